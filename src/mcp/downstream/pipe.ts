import type { Duplex } from 'node:stream'
import type { Credential } from '../../flow/principal/principal.ts'
import { newId } from '../../words/id.ts'
import { member } from '../../words/json.ts'
import { refusals } from '../../words/refusals.ts'
import { type RequestId, errorCodes, isRequestId, notificationText } from '../wire/jsonrpc.ts'
import { LineReader } from '../wire/lines.ts'
import type { Era } from '../wire/revisions.ts'
import { type Changed, changeMethods } from './changes.ts'
import { envelopeOf, unsupported } from './envelope.ts'
import { type FrontDoor, openFrontDoor } from './front-door.ts'
import { shakeHands } from './handshake.ts'
import { type Incoming, readIncoming } from './incoming.ts'
import { serve } from './methods.ts'
import { type DownstreamOptions, revisionsOf } from './options.ts'
import { Peer } from './peer.ts'
import { PipeOutlet, PipeWriter } from './pipe-outlet.ts'
import type { Ports } from './ports.ts'
import { REFUSED } from './refused.ts'
import { failure } from './reply.ts'
import { type Client, type ClientRequest, clientOf } from './request.ts'

type Request = Extract<Incoming, { kind: 'request' }>

/**
 * Serves one client over a pipe, one JSON-RPC message a line, until it says no more and its last calls have answered, or
 * the pipe breaks. Resolves then, the pipe ended; it never rejects. A socket has to be one that stays open for writing
 * when its reading side ends (`allowHalfOpen`), or the last answers are lost.
 *
 * @param signal Aborts when the gateway closes: no more is read, and the last calls answer.
 */
export async function servePipe(
  duplex: Duplex,
  credential: Credential,
  ports: Ports,
  options: DownstreamOptions,
  signal?: AbortSignal,
): Promise<void> {
  const door = openFrontDoor(ports, options)
  try {
    await new PipeServer(duplex, credential, door).run(signal)
  } finally {
    door.close()
    duplex.end()
  }
}

/** One client on one pipe. Its era is that of its first message which shows one; `server/discover` only asks. */
class PipeServer extends Peer {
  readonly #duplex: Duplex
  readonly #credential: Credential
  readonly #door: FrontDoor
  readonly #writer: PipeWriter
  readonly #lines: LineReader
  readonly #session = newId('ses')
  readonly #untold = new Set<Changed>()
  #era: Era | undefined
  #client: Client = clientOf(undefined, undefined)
  /** The client of the legacy era has said that it is ready. */
  #ready = false
  /** Nothing more is taken. */
  #over = false

  constructor(duplex: Duplex, credential: Credential, door: FrontDoor) {
    super()
    this.#duplex = duplex
    this.#credential = credential
    this.#door = door
    const { messageBytes, unreadBytes } = door.options.limits
    this.#writer = new PipeWriter(duplex, unreadBytes)
    this.#lines = new LineReader(messageBytes, {
      line: (bytes) => this.#line(bytes),
      oversize: () => this.#fail(null, errorCodes.invalidRequest, 'The message is larger than the limit'),
    })
  }

  override say(message: string): boolean {
    return this.#writer.message(message)
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    this.watching.tellBy((message) => this.#writer.message(message))
    const leave = this.#door.changes.listen((what) => this.#changed(what))
    const broken = await this.#readToEnd(signal)
    leave()
    this.questions.close()
    this.#door.subscriptions.close()
    if (!broken) await this.#lastAnswers()
    this.close()
  }

  /** Answers whether the pipe broke before the client had said its last. */
  #readToEnd(signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const stop = () => {
      this.#over = true
      resolve(false)
    }
    if (signal?.aborted === true) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#duplex.on('data', (piece: Buffer) => {
      if (!this.#over) this.#lines.push(piece)
      // Who does not read what it is told is not asked for more.
      if (this.#writer.isCongested) this.#duplex.pause()
    })
    this.#duplex.on('drain', () => {
      this.#changed(this.#untold)
      this.watching.flush()
      this.#duplex.resume()
    })
    this.#duplex.once('end', () => resolve(false))
    this.#duplex.once('close', () => resolve(true))
    // For good, not once: an error that nobody hears would end the process.
    this.#duplex.on('error', () => resolve(true))
    if (this.#duplex.destroyed) resolve(true)
    else if (this.#duplex.readableEnded) resolve(false)
    return promise.finally(() => signal?.removeEventListener('abort', stop))
  }

  /** Resolves when nothing is under way any more, when nobody is there to hear it, or when it took too long. */
  #lastAnswers(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#door.options.limits.farewellMs)
    this.#duplex.once('close', resolve)
    this.onQuiet = resolve
    if (this.running === 0) resolve()
    return promise.finally(() => clearTimeout(timer))
  }

  #line(bytes: Buffer): void {
    try {
      this.#read(bytes)
    } catch (fault) {
      this.#door.ports.onFault(fault, 'pipe')
      this.#fail(null, errorCodes.internal, 'Internal error')
    }
  }

  #read(bytes: Buffer): void {
    if (bytes.length === 0 || (bytes.length === 1 && bytes[0] === 0x0d)) return
    const { messageBytes, depth } = this.#door.options.limits
    const incoming = readIncoming(bytes, { bytes: messageBytes, depth })
    switch (incoming.kind) {
      case 'wrong':
        return this.#fail(incoming.id, incoming.code, incoming.why)
      case 'response':
        return this.questions.answer(incoming.value)
      case 'notification':
        return this.#notified(incoming)
      case 'request':
        return this.#requested(incoming)
      default:
        return incoming satisfies never
    }
  }

  #notified({ method, params }: Extract<Incoming, { kind: 'notification' }>): void {
    if (method === 'notifications/initialized') {
      this.#ready = this.#era === 'legacy'
    } else if (method === 'notifications/cancelled') {
      const id = member(params, 'requestId')
      if (isRequestId(id)) this.cancel(id)
    }
  }

  #requested(request: Request): void {
    // An error under this id would be taken for the answer of the request that runs under it.
    if (this.runs(request.id)) return this.#fail(null, errorCodes.invalidRequest, 'The id is in use')
    // After the handshake an envelope says nothing any more.
    if (this.#era === 'legacy' && request.method !== 'initialize') return this.#serve(request, 'legacy', this.#client)
    const envelope = envelopeOf(request, undefined, this.#door.options)
    if (envelope.kind === 'wrong') return this.#writer.reply(envelope.reply)
    if (envelope.kind === 'modern') {
      if (request.method !== 'server/discover') this.#era = 'modern'
      return this.#serve(request, 'modern', envelope.client)
    }
    if (this.#era === 'modern') {
      const modern = revisionsOf('modern', this.#door.options)
      if (request.method === 'initialize') return this.#writer.reply(unsupported(request.id, 'initialize', modern))
      return this.#fail(request.id, errorCodes.invalidParams, '_meta lacks the protocol version')
    }
    if (request.method === 'initialize') return this.#initialize(request)
    if (request.method === 'ping') return this.#serve(request, 'legacy', this.#client)
    this.#fail(request.id, errorCodes.invalidRequest, 'initialize comes first')
  }

  #initialize({ id, params }: Request): void {
    const principal = this.#principal(id)
    if (principal === undefined) return
    const shaken = shakeHands(id, params, principal, this.#door)
    if (shaken.kind === 'agreed') {
      this.#era = 'legacy'
      this.#client = shaken.client
    }
    this.#writer.reply(shaken.reply)
  }

  #serve({ id, method, params }: Request, era: Era, client: Client): void {
    const principal = this.#principal(id)
    if (principal === undefined) return
    const credential = this.#credential
    const request: ClientRequest = { id, method, params, era, client, credential, principal, session: this.#session }
    serve(request, new PipeOutlet(this.#writer), this.#door, this)
  }

  #principal(id: RequestId) {
    const verified = this.#door.ports.identities.verify(this.#credential, Date.now())
    if (!('code' in verified)) return verified
    const { code } = verified
    this.#writer.reply(failure(id, REFUSED, `${code}: ${refusals[code].say}`, { code, next: refusals[code].next }))
    return undefined
  }

  #changed(what: ReadonlySet<Changed>): void {
    for (const one of what) this.#untold.add(one)
    if (!this.#ready) return this.#untold.clear()
    for (const one of this.#untold) {
      if (!this.#writer.message(notificationText(changeMethods[one]))) return
      this.#untold.delete(one)
    }
  }

  #fail(id: RequestId | null, code: number, why: string): void {
    this.#writer.reply(failure(id, code, why))
  }
}
