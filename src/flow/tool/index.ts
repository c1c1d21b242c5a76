import type { Json, JsonObject } from '../../words/json.ts'
import { type Facts, type Verdict, pass, refuse } from '../../words/verdict.ts'
import type { Gate } from '../gate.ts'
import type { Identified } from '../principal/principal.ts'
import type { Target } from '../proposal/proposal.ts'
import type { ApprovedTool, Catalogue, Difference, Found, Selected, Visibility } from './selected.ts'
import { visible } from './visible.ts'

interface Needs {
  readonly catalogue: Catalogue
  readonly visibility: Visibility
}

/** Characters of a name that nobody knows, on the record. */
const NAME_LENGTH = 128

/**
 * Gate 2: what is called, and whether its definition is the approved one now. A principal who may not see a tool gets the
 * very answer that it would get if there were none of that name.
 */
export const tool: Gate<Identified, Selected, Needs> = {
  name: 'tool',
  judge: (identified, needs, signal): Verdict<Selected> | Promise<Verdict<Selected>> => {
    const found = find(identified, needs)
    if (found.state !== 'approved') return refused(found, identified.proposal.target)
    const due = needs.catalogue.refresh(found.tool, signal)
    return due === undefined ? select(identified, found.tool) : afterRefresh(due, found.tool, identified, needs, signal)
  },
}

async function afterRefresh(
  due: Promise<void>,
  { server, key }: ApprovedTool,
  identified: Identified,
  needs: Needs,
  signal: AbortSignal,
): Promise<Verdict<Selected>> {
  try {
    await due
  } catch (fault) {
    if (signal.aborted) return refuse('CALLER_LEFT', { tool: key })
    const why =
      fault instanceof Error ? visible(fault.message.slice(0, 200).toWellFormed()) : 'its list could not be read'
    return refuse('SERVER_UNAVAILABLE', { server, tool: key, why })
  }
  const found = find(identified, needs)
  return found.state === 'approved' ? select(identified, found.tool) : refused(found, identified.proposal.target)
}

function find({ proposal, principal }: Identified, { catalogue, visibility }: Needs): Found {
  const found = catalogue.find(proposal.target)
  if (found.state === 'unknown') return found
  return visibility.sees(principal, found.state === 'approved' ? found.tool : found.about)
    ? found
    : { state: 'unknown' }
}

function select(identified: Identified, approved: ApprovedTool): Verdict<Selected> {
  const { kind, key, server, pin, serverVersion, profile } = approved
  const lines = approved.checkArguments(withOurKey(identified.proposal.arguments, approved))
  if (lines.length > 0) return refuse('ARGUMENTS_INVALID', { tool: key, wrong: lines })
  return pass(
    { ...identified, tool: approved },
    {
      server,
      tool: key,
      pin,
      version: serverVersion,
      // What policies may ask of a tool: with it on record a call can be judged again under others.
      kind,
      effect: profile.effect,
      risk: profile.risk,
      declared: profile.declared,
    },
  )
}

/** Of the form of those that will be sent; the real one is made when the operation is. */
const SOME_KEY = '00000000-0000-4000-8000-000000000000'

// An argument in which the server reads our key is no part of the proposal, and yet its schema may require it.
function withOurKey(given: JsonObject, { profile }: ApprovedTool): JsonObject {
  const key = profile.upstreamKey
  return key?.in === 'argument' ? { ...given, [key.name]: SOME_KEY } : given
}

function refused(found: Exclude<Found, { state: 'approved' }>, target: Target): Verdict<Selected> {
  switch (found.state) {
    case 'unknown':
      return refuse('TOOL_UNKNOWN', { asked: asked(target) })
    case 'pending':
      return refuse('TOOL_NOT_APPROVED', { tool: found.about.key, why: found.why })
    case 'changed':
      return refuse('TOOL_CHANGED', { tool: found.about.key, differences: listed(found.differences) })
    case 'server-changed':
      return refuse('SERVER_CHANGED', changedServer(found))
    case 'unavailable':
      return refuse('SERVER_UNAVAILABLE', { server: found.about.server, tool: found.about.key, why: found.why })
    case 'not-negotiated':
      return refuse('CAPABILITY_NOT_NEGOTIATED', {
        server: found.about.server,
        tool: found.about.key,
        capability: found.capability,
      })
    default:
      return found satisfies never
  }
}

function changedServer({ about, differences }: Extract<Found, { state: 'server-changed' }>): Facts {
  return { server: about.server, tool: about.key, differences: listed(differences) }
}

function listed(differences: readonly Difference[]): Json {
  return differences.map(({ at, approved, live }) => ({ at, approved: approved ?? null, live: live ?? null }))
}

function asked(target: Target): string {
  const name = 'uri' in target ? target.uri : 'exported' in target ? target.exported : `${target.server}/${target.name}`
  return name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH).toWellFormed()}…` : name
}

export type {
  ApprovedTool,
  CapabilityKind,
  Catalogue,
  Difference,
  Found,
  Named,
  SchemaCheck,
  Selected,
  Visibility,
} from './selected.ts'
