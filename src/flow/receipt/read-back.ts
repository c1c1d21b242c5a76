import type { JsonObject } from '../../words/json.ts'
import type { OperationFacts } from '../tool/condition.ts'
import type { ReadBack } from '../tool/profile.ts'
import type { WireOutcome } from './receipt.ts'

/**
 * A governed read made on behalf of an operation, for `verify` and `reconcile`. It passes all gates as a proposal of the
 * operation's own principal and is refused unless the named tool's profile says `read`.
 */
export interface ReadBacks {
  read(
    onBehalf: OnBehalf,
    readBack: ReadBack,
    signal: AbortSignal,
    /** `idempotent`: it takes the operation back, and twice is once. */
    effect?: 'read' | 'idempotent',
  ): Promise<WireOutcome>
}

/** The operation whose end is looked for. After a restart there is no more of it than this. */
export interface OnBehalf {
  readonly operation: string
  readonly principal: string
  readonly arguments: JsonObject
  readonly facts?: OperationFacts
}
