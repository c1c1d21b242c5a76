import type { Approval } from '../../flow/consent/consented.ts'
import { isJsonObject, member, textMember } from '../../words/json.ts'
import { implementation, metaKeys } from '../wire/envelope.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { replyTo } from './answers.ts'
import { formOf, replyIn } from './elicitation.ts'
import type { FrontDoor } from './front-door.ts'
import { refused } from './refused.ts'
import { type Reply, failure, success } from './reply.ts'
import type { ClientRequest } from './request.ts'
import { requestDigest, seal, unseal } from './request-state.ts'

/** The one thing that we ask of a modern client. */
const KEY = 'approval'

/** A modern call that needs a yes ends with the question; the client asks its user and sends the call again. */
export function questionReply(request: ClientRequest, approval: Approval, door: FrontDoor): Reply {
  const { options } = door
  const now = Date.now()
  const state = seal(options.stateKey, {
    approval: approval.id,
    tenant: request.principal.tenant,
    principal: request.principal.id,
    request: requestDigest(request.method, request.params),
    expiresAt: Math.min(approval.expiresAt, now + options.limits.questionMs),
  })
  const asked = { [KEY]: { method: 'elicitation/create', params: formOf(approval) } }
  const about = { [metaKeys.serverInfo]: implementation }
  const result = { resultType: 'input_required', inputRequests: asked, requestState: state, _meta: about }
  return success(request.id, JSON.stringify(result))
}

/**
 * Puts on record what came back with a retry. Answers a reply where the call ends here: a state that is not ours, not
 * this caller's, for another request or too old; a person who did not want to decide; an answer that does not count.
 * Otherwise the call is judged again from the first gate, which finds the answer in the ledger, or asks again.
 */
export async function takeAnswer(request: ClientRequest, door: FrontDoor): Promise<Reply | undefined> {
  const { principal, params } = request
  const text = textMember(params, 'requestState')
  const state = text === undefined ? undefined : unseal(door.options.stateKey, text)
  if (
    state === undefined ||
    state.tenant !== principal.tenant ||
    state.principal !== principal.id ||
    state.expiresAt <= Date.now() ||
    state.request !== requestDigest(request.method, params)
  ) {
    return failure(request.id, errorCodes.invalidParams, 'requestState is not valid for this request')
  }
  const responses = member(params, 'inputResponses')
  const reply = isJsonObject(responses) ? replyIn(member(responses, KEY)) : undefined
  if (reply === undefined) return undefined
  if (reply === 'cancel') {
    return replyTo(request, { ...refused('APPROVAL_WAITING'), approval: state.approval })
  }
  const no = await door.ports.approvals.answer(state.approval, {
    by: principal.id,
    channel: 'elicitation',
    decision: reply === 'accept' ? 'granted' : 'denied',
    ...(reply === 'decline' && { why: 'declined by the user of the client' }),
  })
  return no === undefined ? undefined : replyTo(request, { ...refused(no.code, no.facts), approval: state.approval })
}
