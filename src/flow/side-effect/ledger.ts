import type { Json } from '../../words/json.ts'
import type { Refusal } from '../../words/verdict.ts'
import type { AuthorisedAction } from '../action/index.ts'
import type { Approval, Channel, Question } from '../consent/consented.ts'
import type { Step } from '../line.ts'
import type { ErrorKind } from './error-kind.ts'
import type { Acceptance, OperationState } from './operation.ts'

/** One row of the ledger, as people and programs read it. */
export interface OperationRow {
  readonly id: string
  readonly tenant: string
  readonly principal: string
  readonly tool: string
  readonly effect: string
  readonly state: OperationState
  /** Of an unknown outcome: `answered` when the tool did say something, `silent` when it did not. */
  readonly standing: 'answered' | 'silent' | undefined
  readonly acceptance: Acceptance
  readonly attempts: number
  readonly argumentsDigest: string
  readonly scopesDigest: string
  readonly pin: string
  readonly requestKey: string | undefined
  readonly approval: string | undefined
  readonly repeatOf: string | undefined
  readonly why: string | undefined
  /** Of the newest attempt. */
  readonly errorKind: ErrorKind | undefined
  /** What the upstream gave back that somebody else could look up. */
  readonly receiptRef: string | undefined
  /** The operation that this one undoes, and the one that undoes this. */
  readonly reverses: string | undefined
  readonly compensatedBy: string | undefined
  readonly upstreamKey: string
  readonly resultBytes: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly dispatchedAt: number | undefined
  readonly nextDueAt: number | undefined
}

/** One decision to send, or one leg of it: a wire request. */
export interface AttemptRow {
  readonly n: number
  readonly leg: number
  readonly upstreamKey: string
  readonly startedAt: number
  readonly deadlineAt: number
  readonly sent: 'no' | 'maybe' | 'yes'
  readonly taskRef?: string
  readonly endedAt?: number
  readonly outcome?: string
  readonly errorKind?: ErrorKind
}

/** What claiming the right to send once comes to. */
export type Claim =
  | { readonly kind: 'claimed'; readonly operation: string; readonly attempt: number; readonly upstreamKey: string }
  | Refusal
  /** The same key, the same call, settled before: its recorded result is the answer. */
  | { readonly kind: 'settled'; readonly row: OperationRow; readonly result: Uint8Array | undefined }

/** The raw outcome of an attempt, written before anybody is answered. */
export interface Outcome {
  /** `expired` is for reads only: proof that nothing was sent, and no attempt is left. */
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'expired'
  readonly standing?: 'answered' | 'silent'
  readonly why?: string
  readonly errorKind: ErrorKind
  readonly receiptRef?: string
  readonly result?: Uint8Array
  readonly wallMs: number
}

export interface Reconciled {
  readonly to: 'reconciled_effect' | 'reconciled_none'
  readonly method: 'late reply' | 'task' | 'cancel' | 'status' | 'read-back' | 'listing' | 'decision'
  readonly by: string
  readonly evidence: Json
  /** The answer itself, where it came late. */
  readonly result?: Uint8Array
  readonly receiptRef?: string
}

/**
 * The ledger of operations. Every method that changes something writes the state and its event in one transaction and
 * resolves when that is as durable as the rules want. Rejects with a LedgerFault when it cannot be written.
 */
export interface Ledger {
  /** While this is set nothing may be sent, since it could not be recorded. */
  readonly closed: Refusal | undefined
  /**
   * Claims the key, uses up the approval and writes the intent, in one synced transaction. `stillValid` is asked inside it:
   * a policy or a pin that changed meanwhile makes the claim AUTHORISATION_STALE.
   */
  claim(action: AuthorisedAction, steps: readonly Step[], stillValid: () => boolean): Promise<Claim>
  /** Proof that the attempt did not leave: back to authorised. */
  notSent(operation: string, why: string): Promise<void>
  /** Another attempt after a proof of not-sent: the intent is written anew. */
  dispatchAgain(operation: string, deadlineMs: number): Promise<{ readonly attempt: number }>
  /** The caller was told that nobody knows yet, and the leg is still listened to. */
  pending(operation: string, why: string): Promise<void>
  /** No attempt is left, and none was sent. */
  giveUp(operation: string, why: string): Promise<void>
  settle(operation: string, outcome: Outcome, steps: readonly Step[]): Promise<void>
  /** What the result gate and the outcome said, after the raw outcome is on record. */
  conclude(operation: string, acceptance: Acceptance, steps: readonly Step[]): Promise<void>
  /** The one record of a read: everything that was judged, sent and answered. Answers the operation's id. */
  read(action: AuthorisedAction, operation: string, outcome: Outcome, steps: readonly Step[]): Promise<void>
  /** The recorded answer was given once more, under the same key. */
  repeated(operation: string, steps: readonly Step[]): Promise<void>
  refused(refusal: RefusedProposal): Promise<void>
  reconcile(operation: string, reconciled: Reconciled): Promise<OperationRow | Refusal>
  hold(operation: string, why: string): Promise<void>
  /** What is unknown of calls of that server is looked for at that time, where a look was planned for later. */
  wake(server: string, at: number): Promise<void>
  /**
   * Where this operation undoes another: has it come to an end that settles the other? Compensated only where it had its
   * effect and the world shows it; failed where it had none. While nobody knows, neither.
   */
  finishCompensation(child: string): Promise<void>
  /** Operations without an effect that nobody took up since then: over. */
  abandon(settledBefore: number): Promise<void>
  /** When the next look is due; undefined takes it off the list. */
  schedule(operation: string, at: number | undefined): Promise<void>

  find(operation: string): OperationRow | undefined
  list(filter: { readonly states?: readonly OperationState[]; readonly limit: number }): readonly OperationRow[]
  /** Unknown operations whose next look is due. */
  due(now: number, limit: number): readonly OperationRow[]
  attempts(operation: string): readonly AttemptRow[]
  payload(operation: string, role: 'arguments' | 'result'): Uint8Array | undefined

  ask(question: Question, canonicalArguments: string, now: number): Promise<Approval>
  decide(
    approval: string,
    decision: { readonly by: string; readonly channel: Channel; readonly granted: boolean; readonly why: string },
    now: number,
  ): Promise<Approval | Refusal>
  /** Takes back a question, or a yes that nothing has used yet. */
  revoke(
    approval: string,
    revocation: { readonly by: string; readonly why: string },
    now: number,
  ): Promise<Approval | Refusal>
  approval(id: string): Approval | undefined
  approvals(filter: { readonly states?: readonly Approval['state'][]; readonly limit: number }): readonly Approval[]
  /** Canonical arguments that the approver is shown. */
  approvalArguments(id: string): string | undefined
}

export interface RefusedProposal {
  readonly proposal: string
  readonly tenant?: string
  readonly principal?: string
  readonly tool?: string
  readonly trace?: string
  readonly steps: readonly Step[]
}

/** The ledger could not be written. Nothing may be sent; what was being recorded is held until it can be. */
export class LedgerFault extends Error {
  readonly code: 'LEDGER_UNAVAILABLE' | 'LEDGER_ROLLED_BACK' | 'LEDGER_BUSY'
  constructor(code: 'LEDGER_UNAVAILABLE' | 'LEDGER_ROLLED_BACK' | 'LEDGER_BUSY', message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LedgerFault'
    this.code = code
  }
}
