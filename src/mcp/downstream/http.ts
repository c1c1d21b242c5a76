import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerNames } from '../wire/headers.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { challengeParameters, sayMore, scopesLacking, servesMetadata } from './authorization.ts'
import { type Asker, askerOf, bearerOf } from './bearer.ts'
import { envelopeOf } from './envelope.ts'
import type { FrontDoor } from './front-door.ts'
import { type HostCheck, hostCheck } from './host-check.ts'
import { accepted, say, sayAndClose, sayWho } from './http-answers.ts'
import { writeReply } from './http-outlet.ts'
import { readIncoming } from './incoming.ts'
import { type Intake, takeBody } from './intake.ts'
import { LegacyHttp } from './legacy-http.ts'
import { postModern } from './modern-http.ts'
import { speaks } from './options.ts'
import { type Posted, acceptedForms, isModernNotification, isPlainJson, namesModern, one } from './posted.ts'
import { failure } from './reply.ts'

export const MCP_PATH = '/mcp'
const HEALTH_PATH = '/healthz'

/** Streamable HTTP in both eras on one path, behind checks that hold for every path. */
export class HttpDoor {
  readonly #door: FrontDoor
  readonly #check: HostCheck
  readonly #legacy: LegacyHttp

  constructor(door: FrontDoor) {
    this.#door = door
    this.#check = hostCheck(door.options.allowedHosts, door.options.allowedOrigins)
    this.#legacy = new LegacyHttp(door)
  }

  /** Legacy sessions that are open. */
  get sessions(): number {
    return this.#legacy.sessions.size
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    try {
      this.#route(request, response)
    } catch (fault) {
      this.#broke(fault, response)
    }
  }

  #route(request: IncomingMessage, response: ServerResponse, admitted = false): void {
    const { headers, url = '/' } = request
    const { authorization } = this.#door.ports
    if (!this.#check(headers.host, headers.origin)) return sayAndClose(response, 403, 'Host or Origin is not allowed')
    const path = url.includes('?') ? url.slice(0, url.indexOf('?')) : url
    if (path === HEALTH_PATH) return health(request, response)
    if (servesMetadata(authorization, path, request, response)) return
    if (path !== MCP_PATH) return say(response, 404, 'Not found')

    const asker = askerOf(headers.authorization, this.#door.ports.identities, Date.now())
    if (asker.kind !== 'asker') {
      const token = admitted ? undefined : bearerOf(headers.authorization)
      if (authorization !== undefined && token !== undefined) {
        void authorization.admit(token).then(() => this.#admitted(request, response))
        return
      }
      request.resume()
      return sayWho(response, asker, challengeParameters(authorization))
    }
    const lacking = scopesLacking(authorization, asker.principal)
    if (lacking !== undefined) {
      request.resume()
      return sayMore(response, authorization!, lacking, null)
    }
    if (request.method === 'POST') return this.#post(request, response, asker)
    const isOfSession =
      speaks('legacy', this.#door.options) && !namesModern(headers) && one(headers, headerNames.sessionId)
    if (isOfSession && request.method === 'GET') return this.#legacy.openStream(headers, response, asker)
    if (isOfSession && request.method === 'DELETE') return this.#legacy.end(headers, response, asker)
    say(response, 405, 'Method not allowed', ['allow', 'POST'])
  }

  #admitted(request: IncomingMessage, response: ServerResponse): void {
    try {
      this.#route(request, response, true)
    } catch (fault) {
      this.#broke(fault, response)
    }
  }

  #broke(fault: unknown, response: ServerResponse): void {
    this.#door.ports.onFault(fault, 'http')
    if (response.headersSent) response.destroy()
    else writeReply(response, failure(null, errorCodes.internal, 'Internal error', undefined, 500))
  }

  endStreams(): void {
    this.#legacy.sessions.endStreams()
  }

  close(): void {
    this.#legacy.sessions.close()
  }

  #post(request: IncomingMessage, response: ServerResponse, asker: Asker): void {
    const { headers } = request
    if (!isPlainJson(headers)) return sayAndClose(response, 415, 'The body is application/json, not encoded')
    const taken = acceptedForms(headers.accept)
    if (taken === undefined) return sayAndClose(response, 406, 'Accept lacks application/json and text/event-stream')
    const { messageBytes, intakeMs } = this.#door.options.limits
    takeBody(request, { bytes: messageBytes, ms: intakeMs }, this.#door.pulse, (intake) =>
      this.#took(intake, { asker, headers, response, streams: taken.streams }),
    )
  }

  #took(intake: Intake, posted: Posted): void {
    switch (intake.kind) {
      case 'body':
        try {
          return this.#read(intake.bytes, posted)
        } catch (fault) {
          return this.#broke(fault, posted.response)
        }
      case 'too-large':
        return sayAndClose(posted.response, 413, 'The body is larger than the limit')
      case 'too-slow':
        return sayAndClose(posted.response, 408, 'The body did not come in time')
      case 'broken':
        return
      default:
        return intake satisfies never
    }
  }

  #read(bytes: Buffer, posted: Posted): void {
    const { messageBytes, depth } = this.#door.options.limits
    const incoming = readIncoming(bytes, { bytes: messageBytes, depth })
    if (incoming.kind === 'wrong') {
      const { id, code, why, data, status } = incoming
      return writeReply(posted.response, failure(id, code, why, data, status))
    }
    if (incoming.kind === 'response') {
      // In the modern era only clients ask.
      if (namesModern(posted.headers)) return say(posted.response, 400, 'A client sends no responses in this revision')
      return this.#legacy.take(incoming, posted)
    }
    if (incoming.kind === 'notification') {
      // A modern client cancels by closing its stream; nothing else that it may notify us of matters here.
      if (isModernNotification(incoming.params, posted.headers)) return accepted(posted.response)
      return this.#legacy.take(incoming, posted)
    }
    const { authorization } = this.#door.ports
    const lacking = scopesLacking(authorization, posted.asker.principal, incoming.method, incoming.params)
    if (lacking !== undefined) return sayMore(posted.response, authorization!, lacking, incoming.id)
    const envelope = envelopeOf(incoming, posted.headers, this.#door.options)
    if (envelope.kind === 'wrong') return writeReply(posted.response, envelope.reply)
    if (envelope.kind === 'modern') return postModern(incoming, envelope.client, posted, this.#door)
    this.#legacy.take(incoming, posted)
  }
}

function health(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return say(response, 405, 'Method not allowed', ['allow', 'GET, HEAD'])
  }
  response.writeHead(200, ['content-type', 'text/plain', 'content-length', '3']).end('ok\n')
}
