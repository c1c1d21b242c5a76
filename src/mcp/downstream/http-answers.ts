import type { ServerResponse } from 'node:http'
import { refusals } from '../../words/refusals.ts'
import type { Refusal } from '../../words/verdict.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { challenge } from './bearer.ts'
import { writeReply } from './http-outlet.ts'
import { REFUSED } from './refused.ts'
import { failure } from './reply.ts'

/** An error of HTTP itself: nothing of the message was acted on. */
export function say(response: ServerResponse, status: number, why: string, more: readonly string[] = []): void {
  writeReply(response, failure(null, errorCodes.invalidRequest, why, undefined, status), more)
}

/** The same, and the connection ends: what is still to come on it cannot be told from a next request. */
export function sayAndClose(response: ServerResponse, status: number, why: string): void {
  say(response, status, why, ['connection', 'close'])
}

/** No principal: 401 with a challenge (RFC 6750 §3), or 403 where another credential would not help. */
export function sayWho(response: ServerResponse, refusal: Refusal, parameters = ''): void {
  const { http, say: text, next } = refusals[refusal.code]
  const status = http === 403 ? 403 : 401
  const more = status === 401 ? ['www-authenticate', challenge(refusal) + parameters] : []
  writeReply(response, failure(null, REFUSED, `${refusal.code}: ${text}`, { code: refusal.code, next }, status), more)
}

export function accepted(response: ServerResponse): void {
  response.writeHead(202, NO_BODY).end()
}

const NO_BODY = ['content-length', '0']
