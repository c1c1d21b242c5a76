import type { AskNeeds } from './asking.ts'
import type { Answer } from './answer.ts'
import type { Budgets } from './budget/funded.ts'
import type { Approvals, ConsentRule, History } from './consent/consented.ts'
import type { Desk } from './consent/desk.ts'
import type { ReadBacks } from './receipt/read-back.ts'
import type { Point } from './points.ts'
import type { Identities } from './principal/principal.ts'
import type { ProposalLimits } from './proposal/index.ts'
import type { Upstreams, WireOutcome } from './receipt/receipt.ts'
import type { Policies, Scopes } from './resource/scoped.ts'
import type { Taints } from './resource/taint.ts'
import type { ResultNeeds } from './result/index.ts'
import type { Breaker } from './side-effect/breaker.ts'
import type { Ledger } from './side-effect/ledger.ts'
import type { Permit } from './side-effect/operation.ts'
import type { Catalogue, Visibility } from './tool/selected.ts'

/** Every port of every gate, filled by a composition root. */
export interface FlowNeeds {
  readonly limits: ProposalLimits
  readonly identities: Identities
  readonly catalogue: Catalogue
  readonly visibility: Visibility
  readonly scopes: Scopes
  readonly policies: Policies
  /** Absent: values are not followed from results into calls. */
  readonly taints?: Taints
  readonly rules: readonly ConsentRule[]
  readonly approvals: Approvals
  readonly history: History
  readonly desk: Desk
  /** How long a call waits for a person, in milliseconds. */
  readonly consentWaitMs: number
  readonly budgets: Budgets
  readonly ledger: Ledger
  readonly upstreams: Upstreams
  readonly breaker?: Breaker
  readonly result: ResultNeeds
  /** What servers may ask for while a call is under way. Absent: nothing. */
  readonly asks?: AskNeeds
  readonly readBacks: ReadBacks
  readonly now: () => number
  /** An operation has become unknown: reconciliation may begin. */
  readonly onUnknown?: (operation: string) => void
  /** A complete answer came after the caller was told that nobody knows. */
  readonly onLate?: (permit: Permit, late: WireOutcome) => void
  /** The caller is told that nobody knows yet; `onSettledLate` follows. */
  readonly onPending?: (operation: string) => void
  /** A call whose caller was told that nobody knows yet has come to an end, and this is its answer. */
  readonly onSettledLate?: (permit: Permit, answer: Answer) => void
  readonly onFault?: (fault: unknown, where: string) => void
  /** Tests only: see `points`. */
  readonly at?: (point: Point) => void
}
