import type { ApprovalView, CallRequestBody } from '../api/contract.ts'
import { canonical } from '../words/canonical.ts'
import { parseStrict } from '../words/strict-json.ts'

const limits = { bytes: 16 * 1024 * 1024, depth: 64 }

/**
 * Is a question about this very call? By its call id, or, where an earlier try left the question, by what would run: the
 * gates match on arguments and not on the id.
 */
export function sameCall(request: CallRequestBody): (approval: ApprovalView) => boolean {
  const parsed = parseStrict(request.arguments, limits)
  const text = parsed.ok ? canonical(parsed.value) : undefined
  const key = 'server' in request.target ? `${request.target.server}/${request.target.name}` : undefined
  return (approval) =>
    (request.callId !== undefined && approval.callId === request.callId) ||
    (approval.arguments === text && (key === undefined || approval.tool === key))
}
