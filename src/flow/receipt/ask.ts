import type { Json, JsonObject } from '../../words/json.ts'

/** What a server may ask for while a call of ours is under way. */
export type AskMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list'

export type AskKind = 'elicitation' | 'sampling' | 'roots'

export const askKinds: Readonly<Record<AskMethod, AskKind>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** One thing that a server asks for. `key` tells it from the others of the same round. */
export interface Ask {
  readonly key: string
  readonly method: AskMethod
  readonly params: JsonObject
}

/** What came of it; the error is the one that the server gets where its era has errors for that. */
export type AskReply =
  | { readonly kind: 'result'; readonly value: JsonObject }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }

/** The side of the caller: what it said it can answer, and how it is asked. */
export interface Answerer {
  /** The members `elicitation`, `sampling` and `roots` of its client capabilities, as it declared them. */
  readonly offers: JsonObject
  /** As many replies as asks, in their order, at the latest when the signal aborts. Never rejects. */
  ask(asks: readonly Ask[], signal: AbortSignal): Promise<readonly AskReply[]>
  /** Told of what a server wanted and the caller cannot do, as client capabilities. */
  lacked?(capabilities: JsonObject): void
  /** A notification about something that was asked; lost where nobody listens. */
  tell(method: string, params: JsonObject): void
}

/** The side of the upstream: the one way by which a server's asks reach anybody. Everything behind it is governed. */
export interface Asking {
  /** Who called; asks that name no call are given to nobody where several of them might be meant. */
  readonly owner: string
  /** The client capabilities that this server may count on for this call. */
  readonly offers: JsonObject
  ask(asks: readonly Ask[], signal: AbortSignal): Promise<readonly AskReply[]>
  /** Puts on record that the call goes on with a further leg; false where that cannot be written, and nothing may be sent. */
  leg(leg: number): Promise<boolean>
  tell(method: string, params: JsonObject): void
}

export function isAskMethod(method: string): method is AskMethod {
  return Object.hasOwn(askKinds, method)
}

export const askErrors = {
  /** 2025-11-25, "Sampling", error handling: the code for a user who said no. */
  rejected: -1,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const

export function askError(code: number, message: string): AskReply {
  return { kind: 'error', code, message }
}
