import { type LogLevel, type LogRelay, logLevels } from '../../flow/receipt/receipt.ts'
import { maskText } from '../../flow/result/index.ts'
import { type JsonObject, member } from '../../words/json.ts'
import { metaKeys } from '../wire/envelope.ts'
import { errorCodes, notificationText } from '../wire/jsonrpc.ts'
import { ownResult } from './answers.ts'
import type { FrontDoor } from './front-door.ts'
import type { Peer } from './peer.ts'
import { failure } from './reply.ts'
import { type ClientRequest, type Outlet, metaOf } from './request.ts'

/** What a legacy client hears that has not said what it wants: servers decide then, and most say what is of interest. */
export const UNSAID: LogLevel = 'info'

/** Messages about one call that are passed on; a server that says more talks to nobody. */
const MOST = 10_000

/** `logging/setLevel` (until 2025-11-25): holds for the session, and for nobody else's. */
export function setLevel(request: ClientRequest, outlet: Outlet, _door: FrontDoor, peer?: Peer): void {
  const level = member(request.params, 'level')
  if (!isLevel(level)) return outlet.reply(failure(request.id, errorCodes.invalidParams, 'params.level is no level'))
  if (peer !== undefined) peer.logLevel = level
  outlet.reply(ownResult(request, ''))
}

/** From which level up the caller of this request hears the server; undefined where it did not ask. */
export function levelOf(request: ClientRequest, peer: Peer | undefined): LogLevel | undefined {
  if (request.era === 'legacy') return peer?.logLevel
  const level = member(metaOf(request.params), metaKeys.logLevel)
  return isLevel(level) ? level : undefined
}

/** Passes log messages on as they come. They are words of a server that no gate has seen: secrets in them are masked. */
export function logRelay(level: LogLevel, send: (message: string) => void): LogRelay {
  let told = 0
  return {
    level,
    hear: (message) => {
      if (told++ < MOST)
        send(notificationText('notifications/message', maskText(JSON.stringify(ofNoHop(message))).text))
    },
  }
}

function ofNoHop(params: JsonObject): JsonObject {
  if (member(params, '_meta') === undefined) return params
  const { _meta: _theirs, ...rest } = params
  return rest
}

function isLevel(level: unknown): level is LogLevel {
  return (logLevels as readonly unknown[]).includes(level)
}
