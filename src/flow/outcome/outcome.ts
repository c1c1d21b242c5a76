import type { Acceptance } from '../side-effect/operation.ts'
import type { Facts } from '../../words/verdict.ts'

/** The third verdict: not what the tool said, but what the world shows. */
export interface VerifiedOutcome {
  readonly acceptance: Acceptance
  readonly facts: Facts
}

export type { OnBehalf, ReadBacks } from '../receipt/read-back.ts'
