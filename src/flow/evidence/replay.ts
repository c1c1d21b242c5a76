import type { Json, JsonObject } from '../../words/json.ts'
import type { Step } from '../line.ts'
import type { Door } from '../proposal/proposal.ts'
import { type Asking, CedarPolicies } from '../resource/policy.ts'
import type { PolicyText } from '../resource/policy-set.ts'
import type { Scope } from '../resource/scoped.ts'
import type { Taint } from '../resource/taint.ts'
import type { EvidenceRecord } from './record.ts'
import { unfolded } from './stated.ts'

type Ruling = 'permit' | 'deny' | 'unseen'

/** A recorded proposal that the other policies decide differently. */
export interface Change {
  readonly seq: number
  readonly at: number
  readonly operation?: string
  readonly principal: string
  readonly tool: string
  readonly was: Ruling
  readonly now: Ruling | 'error'
  /** Names of the policies that decide now, or what is wrong with them. */
  readonly because: readonly string[]
  /** What is refused now, where it is one scope. */
  readonly scope?: string
}

export interface Replayed {
  /** Digest of the policies that were tried. */
  readonly policy: string
  /** Proposals that reached the policy, and were judged again. */
  readonly judged: number
  readonly changes: readonly Change[]
  /** Proposals whose record does not hold all that a policy may ask for. */
  readonly unjudged: readonly { readonly seq: number; readonly why: string }[]
}

/**
 * Judges recorded proposals again, under other policies, from what the record says of each. Nothing is sent, nobody is
 * asked, and no name is looked up: the scopes are those that the arguments came to at the time.
 */
export class Replay {
  readonly #policies: CedarPolicies
  readonly #stated = new Map<number, EvidenceRecord>()
  readonly #changes: Change[] = []
  readonly #unjudged: { seq: number; why: string }[] = []
  readonly #since: number
  #judged = 0

  constructor(policies: readonly PolicyText[], since = 0) {
    this.#policies = new CedarPolicies(policies)
    this.#since = since
  }

  take(line: string): void {
    const record = JSON.parse(line) as EvidenceRecord
    if (record.kind === 'read.stated') this.#stated.set(record.seq, record)
    if (record.at < this.#since) return
    const { kind, seq, steps = [] } = unfolded(record, (at) => this.#stated.get(at))
    if (kind !== 'op.dispatched' && kind !== 'op.read' && kind !== 'proposal.refused') return
    const resource = steps.find(({ step }) => step === 'resource')
    // Another attempt of one operation, or turned away before a policy was asked: nothing to judge again.
    if (resource === undefined) return
    const was = wasOf(resource)
    if (was === undefined) return
    const recorded = askingOf(steps)
    if ('why' in recorded) return void this.#unjudged.push({ seq, why: recorded.why })
    this.#judged++
    this.#judge(record, was, recorded)
  }

  #judge({ seq, at, operation }: EvidenceRecord, was: Ruling, { asking, scopes, taint }: Recorded): void {
    const change = (now: Change['now'], because: readonly string[], scope?: Scope): void => {
      if (now === was) return
      this.#changes.push({
        seq,
        at,
        ...(operation === undefined ? {} : { operation }),
        principal: asking.principal.id,
        tool: asking.tool.key,
        was,
        now,
        because,
        ...(scope === undefined ? {} : { scope: `${scope.access} ${scope.kind} ${scope.value}` }),
      })
    }
    const answer = this.#policies.decide(asking, scopes, 0, taint)
    if (answer.kind === 'error') change('error', answer.messages)
    else if (!this.#policies.sees(asking.principal, asking.tool)) change('unseen', [])
    else if (answer.kind === 'deny') change('deny', answer.policies, answer.scope)
    else change('permit', answer.policies)
  }

  finish(): Replayed {
    const { version } = this.#policies
    return { policy: version, judged: this.#judged, changes: this.#changes, unjudged: this.#unjudged }
  }
}

function wasOf({ verdict, code }: Step): Ruling | undefined {
  if (verdict === 'pass') return 'permit'
  return code === 'POLICY_DENIED' ? 'deny' : undefined
}

interface Recorded {
  readonly asking: Asking
  readonly scopes: readonly Scope[]
  /** Whether values of earlier results were in the call, as it was recorded. */
  readonly taint: Taint
}

/** What the policies were told, from the steps; or why it is not all there. */
function askingOf(steps: readonly Step[]): Recorded | { readonly why: string } {
  const factsOf = (name: string): Step['facts'] => steps.find(({ step }) => step === name)?.facts ?? {}
  const { principal, tenant, kind, groups, door } = factsOf('principal')
  const { server, tool: key, kind: toolKind, effect, risk, declared } = factsOf('tool')
  const { scopes, tainted, afterSuspect } = factsOf('resource')
  if (
    kind === undefined ||
    typeof key !== 'string' ||
    typeof server !== 'string' ||
    toolKind === undefined ||
    !Array.isArray(scopes)
  )
    return { why: 'an earlier build did not record all that a policy may ask for' }
  if (scopes.some(isInPart)) return { why: 'its scopes are on record in part only' }
  const name = key.slice(server.length + 1)
  return {
    asking: {
      principal: { id: principal, tenant, kind, groups },
      tool: { kind: toolKind, key, server, name, profile: { effect, risk, declared } },
      proposal: { origin: { door: door as Door } },
    } as Asking,
    taint: {
      tainted: Array.isArray(tainted),
      untrusted: Array.isArray(tainted) || afterSuspect === true,
      suspect: afterSuspect === true,
      values: Array.isArray(tainted) ? (tainted as readonly string[]) : [],
    },
    scopes: (scopes as readonly JsonObject[]).map((scope) => ({ within: [], ...scope }) as unknown as Scope),
  }
}

// Of many scopes the first are listed, and of a URL nothing after its path.
function isInPart(scope: Json): boolean {
  if (typeof scope === 'string') return true
  const { value } = scope as JsonObject
  return typeof value !== 'string' || value.endsWith('?…')
}
