import { textMember } from '../../words/json.ts'
import { errorCodes, notificationText } from '../wire/jsonrpc.ts'
import { missingResource, ownResult } from './answers.ts'
import { Errand } from './errand.ts'
import type { FrontDoor } from './front-door.ts'
import type { Peer } from './peer.ts'
import { REFUSED, refusalData, refusalText, refused } from './refused.ts'
import { type Reply, failure } from './reply.ts'
import type { ClientRequest, Outlet } from './request.ts'

/** Resources that one session, or one stream of a modern client, may watch. */
export const MOST_WATCHED = 256

/** What one legacy client has subscribed to, and the changes that it could not be told of yet. */
export class Watching {
  /** What ends each watch; undefined while the server is being asked. */
  readonly stops = new Map<string, (() => void) | undefined>()
  readonly #untold = new Set<string>()
  #tell: ((message: string) => boolean) | undefined

  /** From here on it can be told, by this. */
  tellBy(tell: (message: string) => boolean): void {
    this.#tell = tell
  }

  changed(uri: string): void {
    // Below a resource there can be any number of others; what is told late may be told in part.
    if (this.#untold.size < MOST_WATCHED) this.#untold.add(uri)
    this.flush()
  }

  flush(): void {
    for (const uri of this.#untold) {
      if (this.#tell?.(updatedText({ uri })) !== true) return
      this.#untold.delete(uri)
    }
  }

  close(): void {
    for (const stop of this.stops.values()) stop?.()
    this.stops.clear()
    this.#untold.clear()
  }
}

export function updatedText(params: { readonly uri: string; readonly _meta?: object }): string {
  return notificationText('notifications/resources/updated', JSON.stringify(params))
}

export function subscribe(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer?: Peer): void {
  const uri = textMember(request.params, 'uri')
  const watching = peer?.watching
  if (uri === undefined || watching === undefined) return outlet.reply(noUri(request))
  if (watching.stops.has(uri)) return outlet.reply(ownResult(request, ''))
  if (watching.stops.size >= MOST_WATCHED) {
    const no = refused('TOO_MANY_AT_ONCE', { limit: MOST_WATCHED })
    return outlet.reply(failure(request.id, REFUSED, refusalText(no), refusalData(no)))
  }
  watching.stops.set(uri, undefined)
  Errand.run(request, outlet, door, peer, async (signal) => {
    const stop = await watch(request, uri, door, signal, (changed) => watching.changed(changed))
    // It may have been taken back, or the session may have ended, while the server was asked.
    if (!watching.stops.has(uri)) {
      if (typeof stop === 'function') stop()
      return ownResult(request, '')
    }
    if (typeof stop === 'function') {
      watching.stops.set(uri, stop)
      return ownResult(request, '')
    }
    watching.stops.delete(uri)
    return stop
  })
}

export function unsubscribe(request: ClientRequest, outlet: Outlet, _door: FrontDoor, peer?: Peer): void {
  const uri = textMember(request.params, 'uri')
  if (uri === undefined) return outlet.reply(noUri(request))
  const stop = peer?.watching.stops.get(uri)
  peer?.watching.stops.delete(uri)
  stop?.()
  outlet.reply(ownResult(request, ''))
}

/** Watches where the principal could read: every gate before the call is asked, and a no of any of them is the answer. */
export async function watch(
  request: ClientRequest,
  uri: string,
  door: FrontDoor,
  signal: AbortSignal,
  listener: (uri: string) => void,
): Promise<(() => void) | Reply> {
  const { flow, sources } = door.ports
  const asked = {
    target: { kind: 'resource', uri },
    arguments: { value: { uri } },
    origin: { door: 'gateway', callId: String(request.id) },
    credential: request.credential,
  } as const
  const { steps } = await flow.check(asked, signal)
  const no = steps.find(({ verdict }) => verdict === 'refuse')
  if (no?.code === 'TOOL_UNKNOWN') return missingResource(request, uri)
  if (no?.code !== undefined) {
    const refusal = refused(no.code, no.facts)
    return failure(request.id, REFUSED, refusalText(refusal), refusalData(refusal))
  }
  const stop = await sources.watch(request.principal, uri, listener)
  if (stop === undefined) {
    return failure(request.id, errorCodes.invalidParams, 'The server does not say when this resource changes', { uri })
  }
  return stop
}

function noUri(request: ClientRequest): Reply {
  return failure(request.id, errorCodes.invalidParams, 'params.uri is missing')
}
