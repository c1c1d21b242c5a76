import type { Json } from '../words/json.ts'
import type { RefusalCode } from '../words/refusals.ts'
import type { Facts } from '../words/verdict.ts'
import type { Approval } from './consent/consented.ts'
import type { Step } from './line.ts'
import type { Credential } from './principal/principal.ts'
import type { RawCall } from './proposal/proposal.ts'
import type { LogRelay, TraceContext } from './receipt/receipt.ts'
import type { Answerer } from './receipt/ask.ts'
import type { Accepted } from './result/accepted.ts'
import type { Acceptance, OperationState } from './side-effect/operation.ts'

/** One call as a front door hands it in, with what came to prove who asks. */
export interface CallRequest extends RawCall {
  readonly credential: Credential
}

/** What a door can do for the caller while a call is under way. */
export interface Caller {
  /**
   * How a question to a person is carried. `wait`: the call waits up to `consent.wait` for any channel. `defer`: the call
   * ends at once with `asked`, since the door will carry the question itself and call again.
   */
  readonly consent: 'wait' | 'defer'
  /** In place of the configured wait for a person, in milliseconds. */
  readonly consentWaitMs?: number
  /** Puts the question to the caller's own user (elicitation), where the client can. Resolves undefined when it cannot tell. */
  readonly elicit?: (approval: Approval, signal: AbortSignal) => Promise<'accept' | 'decline' | 'cancel' | undefined>
  /** Puts what the server of the call asks to the caller, where the door can. */
  readonly answers?: Answerer
  /** Is anybody still there who would get the answer? Absent where the door cannot tell. */
  readonly attached?: boolean
  /** Says that the call is alive. Never an assertion about its outcome. */
  readonly progress?: (message: string) => void
  /** Progress of the upstream itself. */
  readonly relayProgress?: (progress: { readonly [key: string]: Json }) => void
  /** Log messages of the upstream; absent where the caller did not ask, so that nobody else is asked. */
  readonly relayLogs?: LogRelay
  readonly trace?: TraceContext
}

/** What became of a call. */
export type Answer =
  | {
      readonly kind: 'answered'
      readonly operation: string
      readonly state: OperationState
      readonly acceptance: Acceptance
      readonly accepted: Accepted
      readonly steps: readonly Step[]
    }
  /** The upstream answered with a JSON-RPC error; it is relayed as it is. */
  | {
      readonly kind: 'upstream-error'
      readonly operation: string
      readonly state: OperationState
      readonly error: { readonly code: number; readonly message: string; readonly data?: Json }
      readonly steps: readonly Step[]
    }
  | {
      readonly kind: 'refused'
      readonly code: RefusalCode
      readonly facts: Facts
      readonly steps: readonly Step[]
      readonly operation?: string
      readonly approval?: string
    }
  /** Only for callers that said `defer`. */
  | { readonly kind: 'asked'; readonly approval: Approval; readonly steps: readonly Step[] }
  /** Sent, and nobody knows. Not a failure; never to be repeated by the caller. */
  | {
      readonly kind: 'unknown'
      readonly operation: string
      readonly why: string
      readonly steps: readonly Step[]
    }

/** The product as a front door sees it. */
export interface Flow {
  call(request: CallRequest, caller: Caller, signal: AbortSignal): Promise<Answer>
  /** Every verdict that can be had without sending: stops before the side-effect gate, takes no hold, parks nothing. */
  check(request: CallRequest, signal: AbortSignal): Promise<{ readonly steps: readonly Step[] }>
}
