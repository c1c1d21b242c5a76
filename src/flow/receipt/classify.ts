import { member } from '../../words/json.ts'
import { holds } from '../tool/condition.ts'
import type { AuthorisedAction } from '../action/index.ts'
import type { Receipt, WireOutcome } from './receipt.ts'

/** Said before anything was done, by a server whose profile says that it may be believed in that. */
const REFUSED_STATUS: ReadonlySet<number> = new Set([401, 403, 404, 405, 406, 413, 415, 426, 429])
const REFUSED_CODES: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_020, -32_021, -32_022])

/**
 * What an outcome on the wire means for the operation. Succeeded and failed are said only of a complete answer whose
 * meaning is known; everything else is unknown.
 */
export function classify(outcome: WireOutcome, action: AuthorisedAction, upstreamKey = ''): Receipt {
  const { profile } = action.tool
  switch (outcome.kind) {
    case 'not-sent':
      return { kind: 'not-sent', why: outcome.why }
    case 'no-answer':
      if (outcome.status !== undefined && profile.trustRefusals && REFUSED_STATUS.has(outcome.status)) {
        const said = `HTTP ${outcome.status}`
        return { kind: 'failed', why: `${said}, before any effect`, error: { code: -32_000, message: said } }
      }
      return { kind: 'unknown', standing: 'silent', why: `${outcome.why}: ${outcome.detail}` }
    case 'error': {
      const error = {
        code: outcome.code,
        message: outcome.message,
        ...(outcome.data === undefined ? {} : { data: outcome.data }),
      }
      return profile.trustRefusals && REFUSED_CODES.has(outcome.code)
        ? { kind: 'failed', why: `error ${outcome.code}, before any effect`, error }
        : { kind: 'unknown', standing: 'answered', why: `error ${outcome.code}`, error }
    }
    case 'reply': {
      const { value, bytes } = outcome
      if (member(value, 'isError') !== true) {
        const proof = profile.receipt?.conditions
        if (proof === undefined || holds(proof, value, action.proposal.arguments, { upstreamKey }))
          return { kind: 'succeeded', value, bytes }
        const why = 'the answer lacks the receipt that the profile demands'
        return { kind: 'unknown', standing: 'silent', why, value, bytes }
      }
      const known =
        profile.definiteFailure !== undefined && holds(profile.definiteFailure, value, action.proposal.arguments)
      if (profile.effect === 'read' || known) return { kind: 'failed', why: 'the tool said so', value, bytes }
      return { kind: 'unknown', standing: 'answered', why: 'the tool answered with an error', value, bytes }
    }
    default:
      return outcome satisfies never
  }
}
