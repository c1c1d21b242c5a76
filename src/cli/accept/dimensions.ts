import type { ServerSummary, ToolSummary } from '../../api/contract.ts'
import type { Tally } from '../../flow/evidence/tally.ts'
import type { Judgement } from '../../verifier/index.ts'

/** `met` and `not-met` are verdicts on what must hold always; `reported` has no right value, and `nothing` nothing to judge. */
export type Standing = 'met' | 'not-met' | 'reported' | 'nothing'

export interface Finding {
  readonly what: string
  readonly standing: Standing
  readonly says: string
}

export interface Dimension {
  readonly name: 'interoperation' | 'discovery' | 'execution' | 'security' | 'cost' | 'evidence'
  readonly findings: readonly Finding[]
}

export interface Seen {
  readonly tally: Tally
  readonly judgement: Judgement
  /** Of the gateway that runs now; absent where none does. */
  readonly live?: { readonly servers: readonly ServerSummary[]; readonly tools: readonly ToolSummary[] }
}

const reported = (what: string, says: string): Finding => ({ what, standing: 'reported', says })
const nothing = (what: string, says: string): Finding => ({ what, standing: 'nothing', says })
const must = (what: string, holds: boolean, says: string): Finding => ({
  what,
  standing: holds ? 'met' : 'not-met',
  says,
})

export function dimensionsOf(seen: Seen): readonly Dimension[] {
  return [
    { name: 'interoperation', findings: interoperation(seen) },
    { name: 'discovery', findings: discovery(seen) },
    { name: 'execution', findings: execution(seen) },
    { name: 'security', findings: security(seen) },
    { name: 'cost', findings: cost(seen) },
    { name: 'evidence', findings: evidence(seen) },
  ]
}

function interoperation({ tally, live }: Seen): Finding[] {
  const unavailable = tally.refused['SERVER_UNAVAILABLE'] ?? 0
  const refused = reported('calls refused since a server was not there', share(unavailable, tally.proposals))
  if (live === undefined) return [nothing('servers', 'no gateway runs, so none was asked'), refused]
  const ready = live.servers.filter(({ state }) => state === 'ready')
  const revisions = countsOf(ready.map(({ revision = 'unknown', transport = '' }) => `${revision} by ${transport}`))
  const down = live.servers.filter(({ state }) => state === 'down')
  return [
    must(
      'servers are connected',
      down.length === 0,
      `${ready.length} of ${live.servers.length}${named(down.map(({ name, why }) => `${name} (${why ?? 'down'})`))}`,
    ),
    reported('revisions', listed(revisions)),
    refused,
  ]
}

function discovery({ tally, live }: Seen): Finding[] {
  const of = (codes: readonly string[]): number => codes.reduce((sum, code) => sum + (tally.refused[code] ?? 0), 0)
  const illegal = of(['TOOL_UNKNOWN', 'TOOL_NOT_APPROVED', 'TOOL_CHANGED', 'SERVER_CHANGED'])
  const findings = [
    reported('proposals that name a tool which may be called', share(tally.proposals - illegal, tally.proposals)),
    reported(
      'proposals whose arguments fit the schema',
      share(tally.proposals - of(['ARGUMENTS_INVALID']), tally.proposals),
    ),
  ]
  if (live === undefined) return [nothing('catalogue', 'no gateway runs'), ...findings]
  const states = countsOf(live.tools.map(({ state }) => state))
  const undeclared = live.tools.filter(({ state, declared }) => state === 'approved' && !declared).length
  return [
    reported('definitions', listed(states)),
    reported('approved tools without a profile, which are `once` and ask', String(undeclared)),
    ...findings,
  ]
}

function execution({ tally }: Seen): Finding[] {
  const { calls, ends, acceptance } = tally
  const all = calls.reads + calls.effects
  if (all === 0) return [nothing('calls', 'nothing was called yet')]
  const {
    met = 0,
    not_met: notMet = 0,
    unverifiable = 0,
  } = acceptance as { met?: number; not_met?: number; unverifiable?: number }
  const judged = met + notMet + unverifiable
  return [
    must(
      'nothing was sent again that may have run',
      tally.sentAgain.length === 0,
      `${calls.attempts} attempts for ${all} calls${named(tally.sentAgain)}`,
    ),
    must(
      'every outcome is known',
      tally.open === 0,
      tally.open === 0 ? 'no operation is open' : `${tally.open} open: \`countersign operation list --state open\``,
    ),
    reported('ends', listed(ends)),
    judged === 0
      ? nothing('acceptance', 'no profile says how to look')
      : reported(
          'acceptance by read-back',
          `${share(met, judged)} met, ${notMet} not met, ${unverifiable} could not be told`,
        ),
    reported(
      'found out afterwards',
      `${tally.reconciled} by a look, ${tally.decided} by a person; ${tally.compensated} undone`,
    ),
    reported('time of the servers', quantiles(tally.upstreamMicros)),
  ]
}

function security({ tally }: Seen): Finding[] {
  const { asked, granted, denied, expired, byThemselves } = tally.approvals
  const refusals = Object.values(tally.refused).reduce((sum, count) => sum + count, 0)
  return [
    must(
      'no call went past a gate',
      tally.ungated.length === 0,
      `${tally.calls.reads + tally.calls.effects} calls, each with every gate on record${named(tally.ungated)}`,
    ),
    reported('refused', refusals === 0 ? 'nothing' : listed(tally.refused)),
    reported(
      'approvals',
      `${asked} asked, ${granted} granted (${byThemselves} by the one who asked), ${denied} denied, ${expired} expired`,
    ),
    reported(
      'results',
      `${tally.suspectResults} with signs of injection, ${tally.maskedSecrets} secrets masked; ${tally.taintedCalls} calls used what a result named`,
    ),
  ]
}

function cost({ tally }: Seen): Finding[] {
  const all = tally.calls.reads + tally.calls.effects
  if (all === 0) return [nothing('calls', 'nothing was called yet')]
  return [
    reported('bytes of results', `${tally.resultBytes}, ${Math.round(tally.resultBytes / all)} a call`),
    reported('our own time for a call', quantiles(tally.ownMicros)),
  ]
}

function evidence({ tally, judgement }: Seen): Finding[] {
  const all = tally.calls.reads + tally.calls.effects
  const lacking = listed(tally.lacking)
  return [
    must(
      'the chain holds',
      judgement.verdict === 'valid',
      `${judgement.verdict}, ${tally.records} records${named(judgement.why)}`,
    ),
    all === 0
      ? nothing('records are whole', 'nothing was called yet')
      : must(
          'records are whole',
          tally.whole === all,
          `${share(tally.whole, all)} bind all that a reader needs${lacking === '' ? '' : `; lacking: ${lacking}`}`,
        ),
  ]
}

function share(part: number, all: number): string {
  return all === 0 ? 'none of none' : `${part} of ${all} (${((100 * part) / all).toFixed(1)} %)`
}

function quantiles({ p50, p95 }: { readonly p50: number; readonly p95: number }): string {
  return `p50 ${(p50 / 1000).toFixed(1)} ms, p95 ${(p95 / 1000).toFixed(1)} ms`
}

function countsOf(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .toSorted(([, one], [, other]) => other - one)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')
}

function named(names: readonly string[]): string {
  return names.length === 0 ? '' : `: ${names.slice(0, 5).join(', ')}`
}
