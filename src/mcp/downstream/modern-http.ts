import type { FrontDoor } from './front-door.ts'
import { HttpOutlet, writeReply } from './http-outlet.ts'
import { headerMismatch } from './envelope.ts'
import type { Incoming } from './incoming.ts'
import { serve } from './methods.ts'
import { mirrorFault } from './mirrored.ts'
import type { Posted } from './posted.ts'
import type { Client } from './request.ts'

/** One modern request: it stands alone, and its stream is all that its client and we have in common. */
export function postModern(
  incoming: Extract<Incoming, { kind: 'request' }>,
  client: Client,
  posted: Posted,
  door: FrontDoor,
): void {
  const { id, method, params } = incoming
  const { asker, headers, response, streams } = posted
  const { principal, credential } = asker
  if (method === 'tools/call') {
    const fault = mirrorFault(door.ports.shelf.list(principal, 'tools'), params, headers)
    if (fault !== undefined) return writeReply(response, headerMismatch(id, fault))
  }
  const { options, pulse } = door
  const outlet = new HttpOutlet(response, { streams, leavingIsCancel: true, limits: options.limits, pulse })
  serve({ id, method, params, era: 'modern', client, principal, credential, session: undefined }, outlet, door)
}
