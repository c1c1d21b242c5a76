import type { Principal } from '../../flow/principal/principal.ts'
import { type JsonObject, member, textMember } from '../../words/json.ts'
import { implementation } from '../wire/envelope.ts'
import { type RequestId, errorCodes } from '../wire/jsonrpc.ts'
import type { LegacyRevision } from '../wire/revisions.ts'
import type { FrontDoor } from './front-door.ts'
import { unsupported } from './envelope.ts'
import { capabilities } from './methods.ts'
import { revisionsOf } from './options.ts'
import { type Reply, failure, success } from './reply.ts'
import { type Client, clientOf } from './request.ts'

export type Handshake =
  | { readonly kind: 'agreed'; readonly revision: LegacyRevision; readonly client: Client; readonly reply: Reply }
  | { readonly kind: 'wrong'; readonly reply: Reply }

/** `initialize`: the revision that was asked for where we speak it, otherwise our newest of that era. */
export function shakeHands(id: RequestId, params: JsonObject, principal: Principal, door: FrontDoor): Handshake {
  const asked = textMember(params, 'protocolVersion')
  if (asked === undefined) {
    return { kind: 'wrong', reply: failure(id, errorCodes.invalidParams, 'params.protocolVersion is missing') }
  }
  const legacy = revisionsOf('legacy', door.options)
  const revision = legacy.find((one) => one === asked) ?? legacy[0]
  if (revision === undefined) {
    return { kind: 'wrong', reply: unsupported(id, asked, revisionsOf('modern', door.options)) }
  }
  const instructions = door.ports.shelf.instructions(principal)
  const result = {
    protocolVersion: revision,
    capabilities,
    serverInfo: implementation,
    ...(instructions !== '' && { instructions }),
  }
  const client = clientOf(member(params, 'clientInfo'), member(params, 'capabilities'))
  return { kind: 'agreed', revision, client, reply: success(id, JSON.stringify(result)) }
}
