import { randomUUID } from 'node:crypto'
import type { Answerer, Ask } from '../../flow/receipt/ask.ts'
import { type JsonObject, member } from '../../words/json.ts'
import { notificationText } from '../wire/jsonrpc.ts'
import type { Peer } from './peer.ts'
import type { Carry } from './questions.ts'

/** A client of the older era is sent requests, on the stream of its own call as long as that is open. */
export function legacyAnswerer(offers: JsonObject, peer: Peer, onStream: Carry): Answerer {
  // A stream that broke is no cancel in this era: the session may have another.
  const carry: Carry = (message) => onStream(message) || peer.say(message)
  return {
    offers,
    ask: (asks, signal) =>
      Promise.all(asks.map((ask) => peer.questions.put(carry, ask.method, JSON.stringify(paramsOf(ask)), signal))),
    tell: (method, params) => void carry(notificationText(method, JSON.stringify(params))),
  }
}

// In this era an elicitation by URL has a name, which that of the newer one lacks.
function paramsOf({ method, params }: Ask): JsonObject {
  const isUrl = method === 'elicitation/create' && member(params, 'mode') === 'url'
  return isUrl && member(params, 'elicitationId') === undefined ? { ...params, elicitationId: randomUUID() } : params
}
