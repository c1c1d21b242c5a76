import type { Approval } from '../../flow/consent/consented.ts'
import { type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { implementation, metaKeys } from '../wire/envelope.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { replyTo } from './answers.ts'
import { formOf, replyIn } from './elicitation.ts'
import type { FrontDoor } from './front-door.ts'
import { refused } from './refused.ts'
import { type Reply, failure, success } from './reply.ts'
import type { ClientRequest } from './request.ts'
import { type RequestState, requestDigest, seal, unseal } from './request-state.ts'

/** The one thing that we ask of a modern client. */
const KEY = 'approval'

/** A modern call that needs a yes ends with the question; the client asks its user and sends the call again. */
export function questionReply(request: ClientRequest, approval: Approval, door: FrontDoor): Reply {
  const { options } = door
  const now = Date.now()
  const state = seal(options.stateKey, {
    subject: { kind: 'approval', id: approval.id },
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
  const state = stateOf(request, door)
  if (state?.subject.kind !== 'approval') return invalidState(request)
  const approval = state.subject.id
  const responses = member(params, 'inputResponses')
  const reply = isJsonObject(responses) ? replyIn(member(responses, KEY)) : undefined
  if (reply === undefined) return undefined
  if (reply === 'cancel') {
    return replyTo(request, { ...refused('APPROVAL_WAITING'), approval })
  }
  const no = await door.ports.approvals.answer(approval, {
    by: principal.id,
    channel: 'elicitation',
    decision: reply === 'accept' ? 'granted' : 'denied',
    ...(reply === 'decline' && { why: 'declined by the user of the client' }),
  })
  return no === undefined ? undefined : replyTo(request, { ...refused(no.code, no.facts), approval })
}

/** The state that came with a request, where it is ours, of this caller, of this very request, and not too old. */
export function stateOf(request: ClientRequest, door: FrontDoor): RequestState | undefined {
  const { principal, params } = request
  const text = textMember(params, 'requestState')
  const state = text === undefined ? undefined : unseal(door.options.stateKey, text)
  const valid =
    state !== undefined &&
    state.tenant === principal.tenant &&
    state.principal === principal.id &&
    state.expiresAt > Date.now() &&
    state.request === requestDigest(request.method, params)
  return valid ? state : undefined
}

export function invalidState(request: ClientRequest): Reply {
  return failure(request.id, errorCodes.invalidParams, 'requestState is not valid for this request')
}

/** What a server asks, put to a modern client. The call goes on under the name that is sealed in the state. */
export function askedReply(
  request: ClientRequest,
  inputRequests: JsonObject,
  parked: { readonly id: string; readonly until: number },
  door: FrontDoor,
): Reply {
  const state = seal(door.options.stateKey, {
    subject: { kind: 'parked', id: parked.id },
    tenant: request.principal.tenant,
    principal: request.principal.id,
    request: requestDigest(request.method, request.params),
    expiresAt: parked.until,
  })
  const about = { [metaKeys.serverInfo]: implementation }
  const result = { resultType: 'input_required', inputRequests, requestState: state, _meta: about }
  return success(request.id, JSON.stringify(result))
}
