import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { member } from '../../words/json.ts'
import { headerNames } from '../wire/headers.ts'
import { isRequestId } from '../wire/jsonrpc.ts'
import type { Asker } from './bearer.ts'
import { unsupported } from './envelope.ts'
import type { FrontDoor } from './front-door.ts'
import { shakeHands } from './handshake.ts'
import { accepted, say } from './http-answers.ts'
import { HttpOutlet, STREAM_HEAD, writeReply } from './http-outlet.ts'
import type { Incoming } from './incoming.ts'
import type { Session } from './legacy-session.ts'
import { serve } from './methods.ts'
import { revisionsOf } from './options.ts'
import { type Posted, acceptedForms, one } from './posted.ts'
import { Sessions } from './sessions.ts'

type Taken = Exclude<Incoming, { kind: 'wrong' }>
type Request = Extract<Incoming, { kind: 'request' }>

/** Streamable HTTP as it was until 2025-11-25: a handshake, a session, and a stream for what belongs to no request. */
export class LegacyHttp {
  readonly sessions: Sessions
  readonly #door: FrontDoor

  constructor(door: FrontDoor) {
    this.#door = door
    this.sessions = new Sessions(door)
  }

  take(incoming: Taken, posted: Posted): void {
    const { headers, response, asker } = posted
    if (incoming.kind === 'request' && incoming.method === 'initialize') return this.#initialize(incoming, posted)
    // Without the header 2025-03-26 is meant, which had none. Nothing here hangs on which of them it is.
    const version = one(headers, headerNames.protocolVersion) ?? '2025-03-26'
    const spoken = revisionsOf('legacy', this.#door.options)
    if (version === '2025-03-26' ? spoken.length === 0 : !spoken.some((revision) => revision === version)) {
      const id = incoming.kind === 'request' ? incoming.id : null
      return writeReply(response, unsupported(id, version, [...revisionsOf('modern', this.#door.options), ...spoken]))
    }
    const session = this.#find(headers, response, asker)
    if (session === undefined) return
    if (incoming.kind === 'request') return this.#serve(incoming, session, posted)
    if (incoming.kind === 'response') session.questions.answer(incoming.value)
    else if (incoming.method === 'notifications/cancelled') {
      const id = member(incoming.params, 'requestId')
      if (isRequestId(id)) session.cancel(id)
    }
    accepted(response)
  }

  openStream(headers: IncomingHttpHeaders, response: ServerResponse, asker: Asker): void {
    const session = this.#find(headers, response, asker)
    if (session === undefined) return
    if (acceptedForms(headers.accept)?.streams !== true) return say(response, 406, 'Accept lacks text/event-stream')
    if (session.hasStream) return say(response, 409, 'The session has a stream already')
    response.writeHead(200, [...STREAM_HEAD])
    session.openStream(response)
  }

  end(headers: IncomingHttpHeaders, response: ServerResponse, asker: Asker): void {
    const session = this.#find(headers, response, asker)
    if (session === undefined) return
    this.sessions.end(session)
    response.writeHead(204).end()
  }

  #find(headers: IncomingHttpHeaders, response: ServerResponse, asker: Asker): Session | undefined {
    const id = one(headers, headerNames.sessionId)
    if (id === undefined) {
      say(response, 400, 'Mcp-Session-Id is missing: initialize comes first')
      return undefined
    }
    const session = this.sessions.find(id, asker.principal)
    if (session === undefined) say(response, 404, 'No such session: initialize again')
    return session
  }

  #initialize(incoming: Request, posted: Posted): void {
    const { asker, response } = posted
    const shaken = shakeHands(incoming.id, incoming.params, asker.principal, this.#door)
    if (shaken.kind === 'wrong') return writeReply(response, shaken.reply)
    const session = this.sessions.open(asker.principal, shaken.revision, shaken.client)
    if (session === undefined) return say(response, 503, 'Too many sessions are open')
    writeReply(response, shaken.reply, ['mcp-session-id', session.id])
  }

  #serve(incoming: Request, session: Session, posted: Posted): void {
    const { id, method, params } = incoming
    const { principal, credential } = posted.asker
    const { options, pulse } = this.#door
    const outlet = new HttpOutlet(posted.response, {
      streams: posted.streams,
      leavingIsCancel: false,
      limits: options.limits,
      pulse,
    })
    const { client } = session
    serve(
      { id, method, params, era: 'legacy', client, principal, credential, session: session.id },
      outlet,
      this.#door,
      session,
    )
  }
}
