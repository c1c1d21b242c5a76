import type { Acceptance } from '../side-effect/operation.ts'
import type { Facts } from '../../words/verdict.ts'
import type { AuthorisedAction } from '../action/index.ts'
import type { ReadBack } from '../tool/profile.ts'
import type { WireOutcome } from '../receipt/receipt.ts'

/** The third verdict: not what the tool said, but what the world shows. */
export interface VerifiedOutcome {
  readonly acceptance: Acceptance
  readonly facts: Facts
}

/**
 * A governed read made on behalf of an operation, for `verify` and `reconcile`. It passes all gates as a proposal of the
 * service principal `countersign` and is refused unless the named tool's profile says `read`.
 */
export interface ReadBacks {
  read(forAction: Pick<AuthorisedAction, 'proposal' | 'principal'>, readBack: ReadBack, signal: AbortSignal): Promise<WireOutcome>
}
