import { member } from '../../words/json.ts'
import { holds } from '../tool/condition.ts'
import type { AuthorisedAction } from '../action/index.ts'
import type { Receipt, WireOutcome } from './receipt.ts'

/**
 * What an outcome on the wire means for the operation. Succeeded and failed are said only of a complete answer whose
 * meaning is known; everything else is unknown.
 */
export function classify(outcome: WireOutcome, action: AuthorisedAction): Receipt {
  const { profile } = action.tool
  switch (outcome.kind) {
    case 'not-sent':
      return { kind: 'not-sent', why: outcome.why }
    case 'no-answer':
      return { kind: 'unknown', standing: 'silent', why: `${outcome.why}: ${outcome.detail}` }
    case 'error': {
      const error = {
        code: outcome.code,
        message: outcome.message,
        ...(outcome.data === undefined ? {} : { data: outcome.data }),
      }
      return { kind: 'unknown', standing: 'answered', why: `error ${outcome.code}`, error }
    }
    case 'reply': {
      const { value, bytes } = outcome
      if (member(value, 'isError') !== true) return { kind: 'succeeded', value, bytes }
      const known =
        profile.definiteFailure !== undefined && holds(profile.definiteFailure, value, action.proposal.arguments)
      if (profile.effect === 'read' || known) return { kind: 'failed', value, bytes }
      return { kind: 'unknown', standing: 'answered', why: 'the tool answered with an error', value, bytes }
    }
    default:
      return outcome satisfies never
  }
}
