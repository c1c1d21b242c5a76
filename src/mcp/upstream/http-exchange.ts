import type { Dispatcher } from 'undici'
import type { NoAnswer, WireOutcome } from '../../flow/receipt/receipt.ts'
import { Growing } from '../wire/growing.ts'
import { readMessage, type Message } from '../wire/message.ts'
import { eraOf } from '../wire/revisions.ts'
import { SseReader } from '../wire/sse.ts'
import type { HttpGround } from './http.ts'
import { Position, Resumption } from './http-resume.ts'
import { endedBy, notSent, type Ended, type Leg, type LegRequest } from './link.ts'

type Controller = Dispatcher.DispatchController
type Headers = Record<string, string | string[] | undefined>

/** How much of the body of an error answer is read, in the hope that it is a JSON-RPC error. */
const ERROR_BYTES = 64 * 1024
/** How long a stream may stay open after the answer that it was for. */
const LINGER_MS = 2000

/**
 * One POST and its answer. Until undici says that the request starts, it is sure that nothing has left; from then on, nothing but
 * a complete answer with the right id is known.
 */
export class Exchange implements Dispatcher.DispatchHandler, Leg {
  readonly #ground: HttpGround
  readonly #leg: LegRequest
  #controller: Controller | undefined
  #status = 0
  #challenge: string | string[] | undefined
  #body: Buffer | undefined
  #more: Growing | undefined
  #events: SseReader | undefined
  #mostBytes = 0
  #expected = 0
  #ended = false
  #over = false
  #linger: NodeJS.Timeout | undefined
  readonly #position = new Position()
  #resumption: Resumption | undefined

  constructor(ground: HttpGround, leg: LegRequest) {
    this.#ground = ground
    this.#leg = leg
  }

  get sent(): boolean {
    return this.#controller !== undefined
  }

  drop(): void {
    this.#ended = true
    this.#stop('dropped')
  }

  onRequestStart(controller: Controller): void {
    // Called before the first byte is written. A second start would be a second POST, and a dropped call is not to leave at all.
    if (this.#ended || this.#controller !== undefined) {
      if (!this.#ended) this.#lose('closed', 'the connection went, and it was not sent again')
      controller.abort(new Error('not sent'))
      return
    }
    this.#controller = controller
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    if (status < 200) return
    this.#status = status
    if (status === 401 || status === 403) this.#challenge = headers['www-authenticate']
    if (status >= 300 && status < 400) return this.#cut('redirect', `HTTP ${status}, which is not followed`)
    const coding = textOf(headers['content-encoding'])
    if (coding !== '' && coding !== 'identity')
      return this.#cut('garbage', `HTTP ${status} in a coding that was not asked for`)
    const type = textOf(headers['content-type']).split(';', 1)[0]!.trim().toLowerCase()

    this.#mostBytes = status < 300 ? this.#ground.messageBytes : ERROR_BYTES
    if (status >= 300) return
    if (type === 'text/event-stream') this.#events = this.#eventReader()
    else if (type !== 'application/json') {
      const why = status === 200 ? 'garbage' : 'status'
      return this.#cut(
        why,
        `HTTP ${status} with ${type === '' ? 'no content type' : `content of the type ${type.slice(0, 60)}`}`,
      )
    }
    const length = Number(textOf(headers['content-length']))
    if (length > this.#mostBytes) return this.#tooLarge()
    this.#expected = length
    const sessionId = textOf(headers['mcp-session-id'])
    if (this.#leg.method === 'initialize' && /^[\x21-\x7e]{1,1024}$/.test(sessionId)) this.#ground.begun(sessionId)
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#events !== undefined) this.#events.push(chunk)
    else if (this.#ended) return
    else if (this.#body === undefined && chunk.length <= this.#mostBytes) this.#body = chunk
    else {
      if (this.#more === undefined) {
        this.#more = new Growing(this.#mostBytes, this.#expected)
        if (this.#body !== undefined) this.#more.add(this.#body)
      }
      if (!this.#more.add(chunk)) this.#tooLarge()
    }
  }

  onResponseEnd(): void {
    if (!this.#ended) {
      if (this.#events !== undefined) {
        if (this.#takeUp()) return
        this.#lose('closed', 'the stream ended without an answer')
      } else this.#readBody(this.#more?.take() ?? this.#body ?? Buffer.alloc(0))
    }
    this.#finish()
  }

  onResponseError(_controller: Controller | undefined, fault: Error): void {
    if (!this.#ended) {
      const code = (fault as NodeJS.ErrnoException).code ?? fault.name
      if (this.#controller === undefined) {
        this.#end(notSent(`the server cannot be reached (${code})`))
        this.#ground.events.down(`the server cannot be reached (${code})`)
      } else if (this.#takeUp()) return
      else if (fault.name === 'HTTPParserError') this.#lose('garbage', `what came is not HTTP (${code})`)
      else this.#lose('closed', `the connection broke (${code})`)
    }
    this.#finish()
  }

  #readBody(bytes: Buffer): void {
    const message = readMessage(bytes)
    const answers = (message.kind === 'reply' || message.kind === 'error') && message.id === this.#leg.id
    if (this.#status < 300) {
      if (answers) this.#answer(message)
      else {
        this.#ground.strays.answers++
        this.#lose('garbage', message.kind === 'garbage' ? message.why : 'an answer to something else')
      }
      return
    }
    if (answers && message.kind === 'error') this.#answer(message)
    else {
      const outcome: WireOutcome = {
        kind: 'no-answer',
        why: 'status',
        detail: `HTTP ${this.#status}`,
        status: this.#status,
      }
      const strayError = message.kind === 'error' ? message : undefined
      this.#end({ outcome, status: this.#status, ...(strayError && { strayError }) })
    }
    // 404 says that the session is unknown (2025-11-25, "Session Management"); many servers say it with 400.
    const unknown = this.#status === 404 || (this.#status === 400 && !answers)
    if (unknown && this.#ground.sessionId !== undefined) this.#ground.sessionLost()
  }

  #eventReader(): SseReader {
    return new SseReader(this.#ground.messageBytes, {
      event: ({ data }) => {
        if (data.length > 0) this.#receive(readMessage(data))
      },
      oversize: () => this.#tooLarge(),
      position: (id, retryMs) => this.#position.heard(id, retryMs),
    })
  }

  /** False where the server offered no way to the rest of its answer. Since 2026-07-28 there is none. */
  #takeUp(): boolean {
    const { revision } = this.#ground
    const next = this.#position.next()
    if (next === undefined || revision === undefined || eraOf(revision) === 'modern') return false
    const events = this.#eventReader()
    this.#events = events
    this.#resumption = new Resumption(next.inMs, (handler) => this.#ground.resume(next.id, handler), {
      chunk: (chunk) => events.push(chunk),
      ended: (why) => {
        if (!this.#ended && why === undefined && this.#takeUp()) return
        if (!this.#ended) this.#lose('closed', why ?? 'the stream ended without an answer')
        this.#finish()
      },
    })
    return true
  }

  #stop(why: string): void {
    if (this.#resumption === undefined) this.#controller?.abort(new Error(why))
    else this.#resumption.stop()
  }

  #receive(message: Message): void {
    const { strays, events } = this.#ground
    switch (message.kind) {
      case 'reply':
      case 'error':
        if (message.id !== this.#leg.id || this.#ended) strays.answers++
        else this.#answer(message)
        return
      case 'notification':
        events.notification(message.method, message.params, this.#leg.id)
        return
      case 'request':
        askedOnHttp(this.#ground, message, this.#leg.id)
        return
      case 'garbage':
        if (message.id === this.#leg.id && !this.#ended) this.#cut('garbage', message.why)
        else strays.noise++
        return
    }
  }

  #answer(message: Extract<Message, { kind: 'reply' | 'error' }>): void {
    this.#end({ ...endedBy(message, this.#ground.revision), status: this.#status })
    if (this.#events !== undefined) {
      this.#linger = setTimeout(() => this.#stop('answered'), LINGER_MS).unref()
    }
  }

  #tooLarge(): void {
    this.#ground.strays.oversize++
    if (this.#status < 300) this.#cut('oversize', `an answer of more than ${this.#mostBytes} bytes`)
    else this.#cut('status', `HTTP ${this.#status}`)
  }

  /** Ends the call, and what is still coming with it. */
  #cut(why: NoAnswer, detail: string): void {
    if (!this.#ended) this.#lose(why, detail)
    this.#stop(detail)
  }

  #lose(why: NoAnswer, detail: string): void {
    const status = this.#status > 0 && { status: this.#status }
    this.#end({ outcome: { kind: 'no-answer', why, detail, ...(why === 'status' && status) }, ...status })
  }

  #end(ended: Ended): void {
    this.#ended = true
    this.#leg.end(this.#challenge === undefined ? ended : { ...ended, challenge: this.#challenge })
  }

  #finish(): void {
    clearTimeout(this.#linger)
    if (!this.#over) this.#ground.over()
    this.#over = true
  }
}

/** A request of the server, which is answered by a POST of its own in the older revisions; since 2026-07-28 there are none. */
export function askedOnHttp(
  ground: HttpGround,
  request: Extract<Message, { kind: 'request' }>,
  leg: number | undefined,
): void {
  if (ground.revision !== undefined && eraOf(ground.revision) === 'modern') ground.strays.noise++
  else ground.events.request(request, leg)
}

/** A message that has no answer. Resolves when the server has taken it, or has not, or after the time. */
export class Posting implements Dispatcher.DispatchHandler {
  readonly #resolve: () => void
  readonly #timer: NodeJS.Timeout
  #controller: Controller | undefined
  #late = false

  constructor(resolve: () => void, withinMs = 5000) {
    this.#resolve = resolve
    this.#timer = setTimeout(() => {
      this.#late = true
      this.#controller?.abort(new Error('too late'))
      resolve()
    }, withinMs)
  }

  onRequestStart(controller: Controller): void {
    if (this.#late || this.#controller !== undefined) controller.abort(new Error('too late'))
    else this.#controller = controller
  }

  onResponseStart(controller: Controller, status: number): void {
    // Nothing that could be in the body is of use; 202 has none.
    if (status > 202) controller.abort(new Error('not read'))
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    this.#done()
  }

  onResponseError(): void {
    this.#done()
  }

  #done(): void {
    clearTimeout(this.#timer)
    this.#resolve()
  }
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}
