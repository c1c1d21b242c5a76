import type { Refusal } from '../../words/verdict.ts'
import type { JsonObject } from '../../words/json.ts'
import type { AuthorisedAction } from '../action/index.ts'

/** What the result gate takes: the raw outcome is on record already. */
export interface Received {
  readonly action: AuthorisedAction
  readonly operation: string
  readonly receipt:
    | { readonly kind: 'succeeded' | 'failed'; readonly value: JsonObject; readonly bytes: Uint8Array }
    | AnsweredError
}
/** A tool's own `isError` answer is judged like any other before a model sees it. */
export interface AnsweredError {
  readonly kind: 'unknown'
  readonly standing: 'answered'
  readonly why: string
  readonly value: JsonObject
  readonly bytes: Uint8Array
}

/** What the gate found and did; it goes on the record and, in short, into `_meta` of what the caller gets. */
export interface Remarks {
  readonly bytes: number
  readonly contentTypes: readonly string[]
  readonly schema: 'fits' | 'none'
  /** Rule ids of secrets that were replaced, with how often. */
  readonly masked: readonly { readonly rule: string; readonly count: number }[]
  /** Signs of injection: a label for the reader, never a verdict by itself. */
  readonly signs: readonly string[]
  /** URI of the whole, where only its beginning is handed out. */
  readonly spilled?: string
}

export interface Accepted {
  /** JSON text of the result as it may be handed out. The very bytes of the upstream where nothing had to change. */
  readonly bytes: Uint8Array
  readonly value: JsonObject
  readonly isError: boolean
  readonly remarks: Remarks
}

/** Where results that are too large for a model go. Readable by the same tenant and principal only, until it expires. */
export interface Spill {
  /** Answers the URI under which the client can page, or a refusal where even the spill's limit is passed. */
  keep(
    owner: { readonly tenant: string; readonly principal: string },
    operation: string,
    bytes: Uint8Array,
  ): string | Refusal
}
