import type { RefusalCode } from '../words/refusals.ts'
import type { TokenMethod } from './tokens.ts'
import type { Unified } from './port.ts'
import type { SetAside } from './projection/offers.ts'

/** Bounds of one task. All are checked before anything more is done, so that no call is made whose result nobody would read. */
export interface RunLimits {
  readonly turns: number
  /** Calls that are handed to the gates, refused ones too. */
  readonly calls: number
  /** Input and output of all turns together. */
  readonly tokens: number
  /** Milliseconds for the whole task. */
  readonly wallMs: number
  /** Milliseconds for one answer of the model. */
  readonly modelMs: number
}

export const defaultLimits: RunLimits = Object.freeze({
  turns: 20,
  calls: 50,
  tokens: 200_000,
  wallMs: 30 * 60_000,
  modelMs: 5 * 60_000,
})

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** True where a provider did not say for a turn at least, and its text was counted instead. */
  readonly estimated: boolean
  /** `usage`: all as the provider said. `o200k`: what it left out was counted by OpenAI's encoding, which others only come near to. */
  readonly method: TokenMethod
}

/** What was decided about a proposal. `not-run`: it went no further than the loop, which says why. */
export type CallVerdict = 'succeeded' | 'tool-error' | 'refused' | 'unknown' | 'not-run'

export interface CallRecord {
  readonly turn: number
  readonly callId: string
  readonly projectedName: string
  /** Absent where no offered tool has that name. */
  readonly exported?: string
  /** As the model sent them; cut after 4,096 characters. */
  readonly argumentsText: string
  readonly verdict: CallVerdict
  readonly code?: RefusalCode
  readonly operation?: string
  readonly approval?: string
  readonly why?: string
}

export type StopReason =
  /** The model ended by itself. */
  | 'done'
  | 'turns'
  | 'calls'
  | 'tokens'
  | 'time'
  | 'cancelled'
  /** The model's turn was cut short (its own length limit, a filter, an error): what it proposed in it was not run. */
  | 'cut-short'
  /** The provider gave no usable answer. */
  | 'model-fault'
  /** The gates broke off with a fault. */
  | 'fault'

export interface RunReport {
  readonly conversation: string
  readonly model: string
  readonly scripted: boolean
  readonly turns: number
  readonly calls: readonly CallRecord[]
  readonly usage: Usage
  readonly stop: StopReason
  readonly why?: string
  readonly finish?: { readonly unified: Unified; readonly raw?: string }
  /** Text of the last turn. */
  readonly text: string
  readonly warnings: readonly string[]
  /** Tools that the model could not be told of. */
  readonly setAside: readonly SetAside[]
}

/** What an onlooker is told while a task runs. */
export type RunEvent =
  | { readonly kind: 'offers'; readonly offered: number; readonly setAside: readonly SetAside[] }
  | { readonly kind: 'turn'; readonly turn: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'proposal-started'; readonly projectedName: string }
  | { readonly kind: 'argument-fragment'; readonly fragment: string }
  | { readonly kind: 'proposal'; readonly callId: string; readonly exported: string; readonly argumentsText: string }
  | { readonly kind: 'call'; readonly record: CallRecord }
  | { readonly kind: 'warning'; readonly message: string }
  /** What was shown of the turn so far is void: it is asked for again. */
  | { readonly kind: 'retry'; readonly attempt: number; readonly waitMs: number; readonly why: string }
  | { readonly kind: 'stopped'; readonly report: RunReport }

export type Observer = (event: RunEvent) => void
