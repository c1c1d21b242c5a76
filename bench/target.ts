/**
 * One endpoint that is measured, in the form that the harness reads too. In every text `{port}`, `{work}` (a folder of its
 * own), `{node}`, `{upstreamUrl}`, `{upstreamJs}` and `{upstreamTools}` stand for what a run has chosen.
 */
export interface Target {
  readonly name: string
  /** The upstream itself: what all the others are compared with. */
  readonly direct?: true
  readonly start?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Written before the start. */
  readonly files?: readonly { readonly path: string; readonly text: string }[]
  readonly endpoint: string
  /** `sse` is the transport of 2024-11-05: answers come on a stream of their own. */
  readonly transport?: 'http' | 'sse'
  /** What stands before the upstream's own names of tools. */
  readonly prefix?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Every call has arguments of its own. */
  readonly vary?: true
}

/** Fills the placeholders in every text of a value. An unknown one stays as it is, and is seen where it is used. */
export function filled<Value>(value: Value, words: Readonly<Record<string, string>>): Value
export function filled(value: unknown, words: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return value.replaceAll(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole)
  if (Array.isArray(value)) return value.map((part) => filled(part, words))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, filled(part, words)]))
}

/** `echo@16`: a tool, or `list` for tools/list, and how many callers there are. */
export interface Scenario {
  readonly what: 'echo' | 'big' | 'list'
  readonly callers: number
}

export function scenarioName({ what, callers }: Scenario): string {
  return `${what}@${callers}`
}

/** Medians over the rounds of a run. */
export interface Row {
  readonly target: string
  readonly scenario: string
  readonly perSecond: number
  /** Calls per second against a slice of the direct connection right before. */
  readonly ofDirect: number
  readonly p50ms: number
  readonly p99ms: number
  /** CPU time of the target's own processes for one call; what the upstream took is left out. */
  readonly cpuMicros: number
  readonly errors: number
  /** Why there are no figures, or the first of the errors. */
  readonly why?: string
}

/** How one run of a harness, the shared one or our own, is set. */
export interface Plan {
  readonly targets: readonly Target[]
  readonly scenarios: readonly Scenario[]
  readonly rounds: number
  readonly sliceMs: number
  readonly warmMs: number
  /** The script of the upstream; `--transport`, `--port` and `--tools` are given to it. */
  readonly upstream: string
  readonly upstreamPort: number
  readonly upstreamTools: number
  /** A folder for what the targets keep. */
  readonly work: string
}
