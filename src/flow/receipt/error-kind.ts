import type { ErrorKind } from '../side-effect/error-kind.ts'
import type { Receipt, WireOutcome } from './receipt.ts'

/** The kind of an outcome, once it is known what it means for the operation. */
export function errorKindOf(outcome: WireOutcome, receipt: Receipt): ErrorKind {
  switch (outcome.kind) {
    case 'not-sent':
      return 'E1'
    case 'no-answer':
      if (receipt.kind === 'failed') return 'E2'
      return outcome.why === 'status' || outcome.why === 'redirect'
        ? 'E5'
        : outcome.why === 'garbage' || outcome.why === 'oversize' || outcome.why === 'crash'
          ? 'E7'
          : 'E6'
    case 'error':
      return receipt.kind === 'failed' ? 'E2' : 'E5'
    case 'reply':
      return receipt.kind === 'succeeded' ? 'E4' : receipt.kind === 'failed' ? 'E3' : 'E5'
    default:
      return outcome satisfies never
  }
}
