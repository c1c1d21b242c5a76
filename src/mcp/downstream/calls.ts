import type { CallRequest } from '../../flow/answer.ts'
import type { Target } from '../../flow/proposal/proposal.ts'
import { type Json, isJsonObject, member, textMember } from '../../words/json.ts'
import { IDEMPOTENCY_KEY } from '../wire/envelope.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { lackingError, replyTo } from './answers.ts'
import { Call } from './call.ts'
import type { FrontDoor } from './front-door.ts'
import type { Peer } from './peer.ts'
import { refused } from './refused.ts'
import { failure } from './reply.ts'
import { type ClientRequest, type Outlet, metaOf } from './request.ts'
import { invalidState, questionReply, stateOf, takeAnswer } from './rounds.ts'
import { traceIdOf } from './trace.ts'

/** `tools/call` of a tool that is not ours. */
export function callTool(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer?: Peer): void {
  const name = textMember(request.params, 'name')
  if (name === undefined) return outlet.reply(failure(request.id, errorCodes.invalidParams, 'params.name is missing'))
  const given = member(request.params, 'arguments')
  begin(request, { kind: 'tool', exported: name }, given === undefined ? {} : given, outlet, door, peer)
}

export function getPrompt(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer?: Peer): void {
  const name = textMember(request.params, 'name')
  const given = member(request.params, 'arguments') ?? {}
  const texts = isJsonObject(given) && Object.values(given).every((value) => typeof value === 'string')
  if (name === undefined || !texts) {
    const what = name === undefined ? 'params.name is missing' : 'the arguments of a prompt are texts'
    return outlet.reply(failure(request.id, errorCodes.invalidParams, what))
  }
  begin(request, { kind: 'prompt', exported: name }, given, outlet, door, peer)
}

export function readResource(request: ClientRequest, uri: string, outlet: Outlet, door: FrontDoor, peer?: Peer): void {
  begin(request, { kind: 'resource', uri }, { uri }, outlet, door, peer)
}

function begin(
  request: ClientRequest,
  target: Target,
  given: Json,
  outlet: Outlet,
  door: FrontDoor,
  peer: Peer | undefined,
): void {
  const state = request.era === 'modern' ? stateOf(request, door) : undefined
  if (state?.subject.kind === 'parked') {
    const call = door.parked.take(state.subject.id)
    return call === undefined ? outlet.reply(invalidState(request)) : call.resume(request, outlet, peer)
  }
  const { callsAtOnce, callsPerPrincipal } = door.options.limits
  const tooMany = (limit: number) => outlet.reply(replyTo(request, refused('TOO_MANY_AT_ONCE', { limit })))
  if (peer !== undefined && peer.running >= callsAtOnce) return tooMany(callsAtOnce)
  if (door.callers.of(request.principal) >= callsPerPrincipal) return tooMany(callsPerPrincipal)
  const call = new Call(request, outlet, door, peer)
  // Until the flow is through with it, and not only until its client left: what was begun may go on without a client.
  const ended = door.callers.began(request.principal)
  void carryThrough(request, toFlow(request, target, given), call, door).finally(ended)
}

async function carryThrough(request: ClientRequest, asked: CallRequest, call: Call, door: FrontDoor): Promise<void> {
  try {
    if (request.era === 'modern' && member(request.params, 'requestState') !== undefined) {
      const stop = await takeAnswer(request, door)
      if (stop !== undefined) return call.finish(() => stop)
    }
    const answer = await door.ports.flow.call(asked, call, call.signal)
    if (request.era === 'modern' && answer.kind === 'refused' && answer.code === 'IN_PROGRESS') {
      const parked = door.parked.takeLike(request)
      if (parked !== undefined) return call.giveWay(parked)
    }
    // A server of the older era can only fail where its client cannot be asked; in the newer one there is an error for it.
    if (answer.kind === 'upstream-error' && Object.keys(call.lacking).length > 0)
      return call.finish(({ id }) => lackingError(id, answer.error.message, call.lacking))
    call.finish((now) => (answer.kind === 'asked' ? questionReply(now, answer.approval, door) : replyTo(now, answer)))
  } catch (fault) {
    door.ports.onFault(fault, request.method)
    call.finish(({ id }) => failure(id, errorCodes.internal, 'Internal error'))
  }
}

function toFlow(request: ClientRequest, target: Target, given: Json): CallRequest {
  const meta = metaOf(request.params)
  const { client, session, credential, id } = request
  const requestKey = textMember(meta, IDEMPOTENCY_KEY)
  const traceId = traceIdOf(meta)
  return {
    target,
    arguments: { value: given },
    origin: {
      door: 'gateway',
      ...(client.name !== '' && { client: { name: client.name, version: client.version } }),
      ...(session !== undefined && { session }),
      ...(requestKey !== undefined && { requestKey }),
      callId: String(id),
    },
    credential,
    ...(traceId !== undefined && { traceId }),
  }
}
