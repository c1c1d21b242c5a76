import type { Digest } from '../../words/digest.ts'
import type { Json, JsonObject } from '../../words/json.ts'

/** Where a proposal came in: three front doors, and the two by which people and programs call one tool themselves. */
export type Door = 'gateway' | 'host' | 'code' | 'cli' | 'library'

/** What a call names, by the name that was shown to the caller (`server__tool`) or by the upstream's own. */
export type Target =
  | { readonly kind: 'tool'; readonly exported: string }
  | { readonly kind: 'tool'; readonly server: string; readonly name: string }
  | { readonly kind: 'prompt'; readonly exported: string }
  | { readonly kind: 'resource'; readonly uri: string }

/** Recorded, never believed: all of it is what the caller says of itself. */
export interface Origin {
  readonly door: Door
  readonly client?: { readonly name: string; readonly version: string }
  readonly session?: string
  readonly conversation?: string
  /** The model's or client's own id of this call; models retry under new ids, so nothing is matched on it. */
  readonly callId?: string
  /** The caller's idempotency key, 16–255 characters of `A–Z a–z 0–9 . _ : -`. */
  readonly requestKey?: string
  /** Set by the gateway alone, never by a door: the operation that this call undoes. */
  readonly reverses?: string
}

/**
 * What a model or a client asks for. Frozen; `canonical` is the one form that is digested, shown, approved and sent.
 * A resource is read with the arguments `{ uri }`, a prompt is got with its own arguments.
 */
export interface Proposal {
  readonly id: string
  readonly target: Target
  readonly arguments: JsonObject
  /** RFC 8785 text of `arguments`. */
  readonly canonical: string
  /** SHA-256 of `canonical`. */
  readonly digest: Digest
  readonly origin: Origin
  /** 32 hex digits, W3C trace context. */
  readonly traceId: string
  /** Milliseconds since 1970. */
  readonly receivedAt: number
}

/** One call before anything of it was judged. `arguments` is strictly parsed JSON, or JSON text that has still to be. */
export interface RawCall {
  readonly target: Target
  readonly arguments: { readonly value: Json } | { readonly text: string }
  readonly origin: Origin
  /** W3C trace id of the caller, if it sent one. */
  readonly traceId?: string
}
