/** What a program may use up. Times are milliseconds, sizes bytes. */
export interface CodeLimits {
  /** Of its own computing; waiting for calls is not counted. */
  readonly cpuMs: number
  /** From start to end, calls and people included. */
  readonly wallMs: number
  readonly memoryBytes: number
  /** What it prints and what it returns, together. */
  readonly outputBytes: number
  readonly calls: number
  readonly programBytes: number
}

export const defaultCodeLimits: CodeLimits = Object.freeze({
  cpuMs: 5_000,
  wallMs: 10 * 60_000,
  memoryBytes: 64 << 20,
  outputBytes: 64 << 10,
  calls: 1_000,
  programBytes: 256 << 10,
})

export type Limit = 'cpu' | 'wall' | 'memory' | 'output' | 'calls'

/** How a program ended. `printed` is what it printed until then. */
export type RunEnd = { readonly printed: string; readonly calls: number } & (
  | { readonly kind: 'returned'; readonly value: string }
  /** It threw, or is no program. `line` counts from 1, as the model wrote it. */
  | { readonly kind: 'threw'; readonly name: string; readonly message: string; readonly line?: number }
  | { readonly kind: 'stopped'; readonly limit: Limit }
  | { readonly kind: 'cancelled' }
  /** The sandbox itself broke. Nothing of what the program did is known but its calls. */
  | { readonly kind: 'broken'; readonly why: string }
)

/** What a call came to, for the program: JSON text of a value, or an error with a name that it can branch on. */
export type CallEnd =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly name: string; readonly message: string }

export interface Run {
  /** JavaScript with one function `main`, on the lines on which the program stood. */
  readonly source: string
  /** The functions that there are: by server, then by name. */
  readonly api: Readonly<Record<string, readonly string[]>>
  /** What clocks say all the time, in milliseconds since 1970, and what chance is made of: a run can be had again as it was. */
  readonly at: number
  readonly seed: number
  readonly call: (server: string, name: string, argumentsText: string) => Promise<CallEnd>
}

/** Runs programs of a model apart from everything. An implementation gives them no clock to wait on, no network, no files. */
export interface Executor {
  run(run: Run, limits: CodeLimits, signal: AbortSignal): Promise<RunEnd>
}
