import { isJsonObject, member, type JsonObject } from '../../words/json.ts'
import { askError, askErrors, type Ask, type AskReply } from './ask.ts'
import { modeOf } from './ask-checks.ts'

/** What the operator lets one upstream ask for. Nothing, where nothing is said. */
export interface AskGrant {
  readonly elicitation: readonly ('form' | 'url')[]
  /** Who answers a request for a model's words. */
  readonly sampling: 'client' | 'host' | 'refuse'
  /** Real absolute paths: of the caller's roots, only what lies inside of these is told. */
  readonly roots: readonly string[]
  /** Whether its name stands before what it asks: a client knows only us, and shows our name. */
  readonly named: boolean
}

export const noGrant: AskGrant = Object.freeze({ elicitation: [], sampling: 'refuse', roots: [], named: true })

export function grantsAnything({ elicitation, sampling, roots }: AskGrant): boolean {
  return elicitation.length > 0 || sampling !== 'refuse' || roots.length > 0
}

/** One kind of ask, as policies know it. */
export interface AskForm {
  readonly kind: 'elicitation' | 'sampling' | 'roots'
  /** `form`, `url` of an elicitation; `client`, `host` of sampling; empty for roots. */
  readonly mode: string
}

/** Client capabilities for a connection that all callers share: all that is granted. Who lacks one is refused when it is used. */
export function offersOfGrant(grant: AskGrant): JsonObject {
  return offersFor(grant, undefined, () => true)
}

/**
 * Client capabilities for one call: what is granted, what the policies let this caller be asked, and what the caller itself
 * can answer. `caller` undefined stands for any caller.
 */
export function offersFor(
  grant: AskGrant,
  caller: JsonObject | undefined,
  permitted: (form: AskForm) => boolean,
): JsonObject {
  const modes = grant.elicitation.filter(
    (mode) => (caller === undefined || offersMode(caller, mode)) && permitted({ kind: 'elicitation', mode }),
  )
  const elicitation = Object.fromEntries(modes.map((mode) => [mode, {}]))
  const sampling = samplingFor(grant, caller, permitted)
  const hasRoots =
    grant.roots.length > 0 &&
    (caller === undefined || isJsonObject(member(caller, 'roots'))) &&
    permitted({ kind: 'roots', mode: '' })
  return {
    ...(modes.length > 0 && { elicitation }),
    ...(sampling !== undefined && { sampling }),
    ...(hasRoots && { roots: {} }),
  }
}

function samplingFor(
  grant: AskGrant,
  caller: JsonObject | undefined,
  permitted: (form: AskForm) => boolean,
): JsonObject | undefined {
  if (grant.sampling === 'refuse' || !permitted({ kind: 'sampling', mode: grant.sampling })) return undefined
  if (grant.sampling === 'host') return {}
  if (caller === undefined) return { tools: {} }
  const offered = member(caller, 'sampling')
  if (!isJsonObject(offered)) return undefined
  return isJsonObject(member(offered, 'tools')) ? { tools: {} } : {}
}

/** An empty object means form (2025-11-25 and 2026-07-28, elicitation capability). */
export function offersMode(capabilities: JsonObject, mode: 'form' | 'url'): boolean {
  const elicitation = member(capabilities, 'elicitation')
  if (!isJsonObject(elicitation)) return false
  if (member(elicitation, mode) !== undefined) return true
  return mode === 'form' && member(elicitation, 'url') === undefined
}

/** The exact error that a client without the capability gives (2025-11-25, "Elicitation", "Sampling", "Roots"). */
export function notOffered(offers: JsonObject, ask: Ask): AskReply | undefined {
  const { method, params } = ask
  const missing = (): AskReply => askError(askErrors.methodNotFound, 'Method not found')
  switch (method) {
    case 'elicitation/create': {
      if (!isJsonObject(member(offers, 'elicitation'))) return missing()
      const mode = modeOf(ask)
      if (mode === undefined || !offersMode(offers, mode))
        return askError(askErrors.invalidParams, 'The client does not support this mode of elicitation')
      return undefined
    }
    case 'sampling/createMessage': {
      const sampling = member(offers, 'sampling')
      if (!isJsonObject(sampling)) return missing()
      const wantsTools = member(params, 'tools') !== undefined || member(params, 'toolChoice') !== undefined
      return wantsTools && !isJsonObject(member(sampling, 'tools'))
        ? askError(askErrors.invalidParams, 'The client does not support tools in sampling')
        : undefined
    }
    case 'roots/list':
      return isJsonObject(member(offers, 'roots')) ? undefined : missing()
    default:
      return method satisfies never
  }
}

/** What a client has to declare to be asked this. */
export function capabilitiesFor(ask: Ask): JsonObject {
  switch (ask.method) {
    case 'elicitation/create':
      return { elicitation: { [modeOf(ask) ?? 'form']: {} } }
    case 'sampling/createMessage':
      return { sampling: member(ask.params, 'tools') === undefined ? {} : { tools: {} } }
    case 'roots/list':
      return { roots: {} }
    default:
      return ask.method satisfies never
  }
}
