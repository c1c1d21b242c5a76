import type { ApprovalView, CallRequestBody } from '../api/contract.ts'
import { canonical } from '../words/canonical.ts'
import { parseStrict } from '../words/strict-json.ts'

const limits = { bytes: 16 * 1024 * 1024, depth: 64 }

/**
 * Is a question about this very call? By its call id, or, where an earlier try left the question, by what would run: the
 * gates match on arguments and not on the id. Such an earlier question is first replayed as it lay there, and this call may
 * never come to it; when a call does come to it, it is announced once more.
 *
 * @param since milliseconds since the epoch; what was asked from then on is not a replay
 */
export function sameCall(request: CallRequestBody, since = Date.now()): (approval: ApprovalView) => boolean {
  const parsed = parseStrict(request.arguments, limits)
  const text = parsed.ok ? canonical(parsed.value) : undefined
  const key = 'server' in request.target ? `${request.target.server}/${request.target.name}` : undefined
  const lay = new Set<string>()
  return (approval) => {
    if (request.callId !== undefined && approval.callId === request.callId) return true
    if (approval.arguments !== text || (key !== undefined && approval.tool !== key)) return false
    if (approval.askedAt >= since || lay.has(approval.id)) return true
    lay.add(approval.id)
    return false
  }
}
