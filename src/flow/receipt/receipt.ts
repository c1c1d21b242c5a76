import type { Json, JsonObject } from '../../words/json.ts'
import type { Permit } from '../side-effect/operation.ts'
import type { Asking } from './ask.ts'

/** What came of handing one attempt to the wire. Nothing here is a judgement yet. */
export type WireOutcome =
  /** A complete JSON-RPC result, rightly correlated. `bytes` is its JSON text as it came, `value` the same parsed. */
  | { readonly kind: 'reply'; readonly value: JsonObject; readonly bytes: Uint8Array }
  /** A complete JSON-RPC error, rightly correlated. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }
  /** Proof that not a byte of the call left this process. */
  | { readonly kind: 'not-sent'; readonly why: string }
  /** It may have left, and there is no answer: deadline, reset, cut body, garbage, wrong id, redirect, process exit, 5xx. */
  | {
      readonly kind: 'no-answer'
      readonly why: NoAnswer
      readonly detail: string
      /** Of HTTP, where that is all that came. */
      readonly status?: number
      /** The caller need not wait any longer, and the leg is still open: what comes of it is handed in late. */
      readonly listening?: true
    }

export type NoAnswer = 'deadline' | 'closed' | 'garbage' | 'oversize' | 'status' | 'redirect' | 'crash' | 'caller-left'

/** RFC 5424 severities, the most talkative first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

export type LogLevel = (typeof logLevels)[number]

export interface LogRelay {
  readonly level: LogLevel
  /** `params` of one `notifications/message`, as it came. */
  hear(message: JsonObject): void
}

/** Without prefix: the "_meta" page of 2026-07-28 keeps these keys for W3C Trace Context and Baggage. */
export interface TraceContext {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

export interface Sending {
  /** Milliseconds until the outcome is `no-answer: deadline`; the leg stays open after it. */
  readonly softDeadlineMs: number
  /** Milliseconds until nobody knows. The leg is listened to a while longer, since an answer is the best evidence. */
  readonly hardDeadlineMs: number
  /**
   * After a `listening` outcome: called with what came of the leg, which at the hard deadline is `no-answer`. After that,
   * and after a hard deadline that came first, once more at most, with a complete answer.
   */
  readonly onLate: (late: WireOutcome) => void
  /** Progress of the upstream, passed to the caller where it asked for it. Proves nothing. */
  readonly onProgress?: (progress: JsonObject) => void
  /** Log messages of the upstream about this call, from that level up, where the caller asked for them. Prove nothing. */
  readonly logs?: LogRelay
  /** W3C Trace Context of the caller, the one thing of its `_meta` that goes on. */
  readonly trace?: TraceContext
  /** How the server may ask something while this is under way. Absent: it may not. */
  readonly asking?: Asking
  /** Aborts only calls whose profile says `read` or `cancel: clean`: the caller is gone and nothing can be lost. */
  readonly signal?: AbortSignal
}

/** The port to the upstreams. One post, one line: an adapter never sends twice, follows no redirect, retries nothing. */
export interface Upstreams {
  send(permit: Permit, sending: Sending): Promise<WireOutcome>
}

export type Receipt =
  | { readonly kind: 'succeeded'; readonly value: JsonObject; readonly bytes: Uint8Array }
  /** The profile knows this answer to mean "no effect". */
  | {
      readonly kind: 'failed'
      readonly why: string
      readonly value?: JsonObject
      readonly bytes?: Uint8Array
      readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
    }
  | { readonly kind: 'not-sent'; readonly why: string }
  | {
      readonly kind: 'unknown'
      readonly why: string
      /** `answered`: the tool said `isError` or a JSON-RPC error, which is relayed; whether it had an effect is open. */
      readonly standing: 'answered' | 'silent'
      readonly value?: JsonObject
      readonly bytes?: Uint8Array
      readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
    }
