import type { Json, JsonObject } from '../words/json.ts'
import type { ProjectedTool } from './projection/offers.ts'
import type { Presented } from './projection/present.ts'
import type { Profile } from './projection/profiles.ts'

/**
 * A language model as the loop knows it: it is told of tools and proposes calls. It gets no function that it could run,
 * so that there is no way from a model to a server but through the gates.
 */
export interface ModelPort {
  /** As it was asked for, `anthropic:NAME`. */
  readonly label: string
  /** True for a file that plays a model; whoever shows its words says so. */
  readonly scripted: boolean
  readonly profile: Profile
  /**
   * One turn of the model. The events end with one `finish`; a stream that ends without it was cut off.
   * Throws ModelFault where the provider gave no usable answer, and the signal's reason when it is aborted.
   */
  propose(turn: Turn, tools: readonly ProjectedTool[], signal: AbortSignal): AsyncIterable<ModelEvent>
}

export interface Turn {
  readonly system: string
  /** The whole conversation so far. Ids of calls are unique in it, and each call has exactly one result. */
  readonly messages: readonly Message[]
}

export type Message =
  | { readonly from: 'user'; readonly text: string }
  | { readonly from: 'model'; readonly parts: readonly ModelPart[] }
  | { readonly from: 'tools'; readonly results: readonly ToolResult[] }

/** What a model said, kept to be shown to it again. `replay` is the provider's own (signatures, ids) and goes back unchanged. */
export type ModelPart = SpokenPart | CallPart

export type SpokenPart =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string; readonly replay?: JsonObject }
  /** A part that only the provider understands. */
  | { readonly kind: 'opaque'; readonly value: Json }

export interface CallPart {
  readonly kind: 'call'
  readonly callId: string
  readonly projectedName: string
  readonly arguments: JsonObject
  readonly replay?: JsonObject
}

export interface ToolResult {
  readonly callId: string
  readonly projectedName: string
  readonly presented: Presented
}

/**
 * Who issues a call. `program`: code that runs at the provider; `provider`: the provider says that it runs the call
 * itself. Neither was asked for, and both are refused.
 */
export type Issuer = 'model' | 'program' | 'provider'

export type Unified = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other'

export type ModelEvent =
  /** Text as it comes, for whoever watches. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'proposal-started'; readonly id: string; readonly projectedName: string }
  | { readonly kind: 'argument-fragment'; readonly id: string; readonly fragment: string }
  /** A finished part, in its place among the proposals. */
  | { readonly kind: 'part'; readonly part: SpokenPart }
  | {
      readonly kind: 'proposal'
      /** The provider's id; may be empty, and may come twice. */
      readonly id: string
      readonly projectedName: string
      /** The text as the provider gave it, not parsed and not repaired. */
      readonly rawArguments: string
      readonly caller: Issuer
      readonly replay?: JsonObject
    }
  | { readonly kind: 'usage'; readonly inputTokens?: number; readonly outputTokens?: number }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'finish'; readonly unified: Unified; readonly raw?: string }

/** The provider gave no usable answer. The message holds no key and no request. */
export class ModelFault extends Error {
  readonly status: number | undefined
  /** Whether the same request may be sent again: a model call has no effect but its cost. */
  readonly retryable: boolean
  /** What the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined
  constructor(
    message: string,
    about: {
      readonly retryable: boolean
      readonly status?: number | undefined
      readonly retryAfterMs?: number | undefined
    },
  ) {
    super(message)
    this.name = 'ModelFault'
    this.status = about.status
    this.retryable = about.retryable
    this.retryAfterMs = about.retryAfterMs
  }
}
