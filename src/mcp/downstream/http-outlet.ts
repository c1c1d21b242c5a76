import type { ServerResponse } from 'node:http'
import { challenge } from './bearer.ts'
import type { DownstreamLimits } from './options.ts'
import type { Beating, Pulse } from './pulse.ts'
import { type Reply, framed } from './reply.ts'
import type { Outlet } from './request.ts'

// Proxies that buffer would hold back what has to arrive now (2026-07-28, "Streamable HTTP", sending messages).
export const STREAM_HEAD: readonly string[] = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
]
// The token was good when the request came in, and is not any more.
const EXPIRED = ['www-authenticate', challenge({ code: 'IDENTITY_EXPIRED' })]
// Below this, copying two pieces together is cheaper than handing the socket one more.
const SMALL = 32_768

export interface HttpOutletOptions {
  /** The client takes event streams. */
  readonly streams: boolean
  /** It leaves by closing the stream, and that is a cancel (the modern era). */
  readonly leavingIsCancel: boolean
  readonly limits: DownstreamLimits
  readonly pulse: Pulse
}

/**
 * The response to one POST: one JSON text as long as nothing has to be said before the answer, an event stream from the
 * moment on when something has.
 */
export class HttpOutlet implements Outlet {
  onLeft: (() => void) | undefined
  readonly #response: ServerResponse
  readonly #options: HttpOutletOptions
  #state: 'silent' | 'streaming' | 'over' = 'silent'
  #spokeAt = Date.now()

  constructor(response: ServerResponse, options: HttpOutletOptions) {
    this.#response = response
    this.#options = options
    if (options.leavingIsCancel) response.once('close', () => this.#left())
  }

  get streams(): boolean {
    return this.#options.streams
  }

  get gone(): boolean {
    return this.#state === 'over' || this.#response.destroyed
  }

  send(message: string): boolean {
    return this.#write(`event: message\ndata: ${message}\n\n`)
  }

  keepAlive(now: number): void {
    if (now - this.#spokeAt >= this.#options.limits.keepAliveMs) this.#write(': \n\n')
  }

  reply(reply: Reply): void {
    const state = this.#state
    this.#state = 'over'
    if (state === 'over' || this.#response.destroyed) return
    if (state === 'streaming') this.#response.end(framed('event: message\ndata: ', reply, '\n\n'))
    else writeReply(this.#response, reply, reply.status === 401 ? EXPIRED : [])
    watchReader(this.#response, this.#options)
  }

  abandon(): void {
    const state = this.#state
    this.#state = 'over'
    if (state === 'over' || this.#response.destroyed) return
    if (state === 'streaming') this.#response.end()
    // A stream with nothing in it, where the client takes streams: that is no answer, and no error either.
    else if (this.streams) this.#response.writeHead(200, [...STREAM_HEAD]).end()
    else this.#response.writeHead(204).end()
  }

  #write(text: string): boolean {
    if (this.gone || !this.streams) return false
    // Who does not read misses notifications; the answer still waits for them.
    if (this.#response.writableLength > this.#options.limits.unreadBytes) return false
    if (this.#state === 'silent') {
      this.#state = 'streaming'
      this.#response.writeHead(200, [...STREAM_HEAD])
    }
    this.#spokeAt = Date.now()
    this.#response.write(text)
    return true
  }

  #left(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.onLeft?.()
  }
}

/** One JSON-RPC response as a whole HTTP response. */
export function writeReply(response: ServerResponse, reply: Reply, more: readonly string[] = []): void {
  const { head, body, tail, status } = reply
  if (body === undefined || body.length < SMALL) {
    // One text with the head makes one write of it; bytes would make two pieces, which costs the system more than copying.
    const text = head + (body === undefined ? '' : utf8(body)) + tail
    response.writeHead(status, [
      'content-type',
      'application/json',
      'content-length',
      String(Buffer.byteLength(text)),
      ...more,
    ])
    response.end(text)
    return
  }
  const before = Buffer.from(head, 'utf8')
  const length = String(before.length + body.length + Buffer.byteLength(tail, 'utf8'))
  response.writeHead(status, ['content-type', 'application/json', 'content-length', length, ...more])
  response.cork()
  response.write(before)
  response.write(body)
  response.end(tail)
}

/** Cuts off a client that leaves its answer lying. */
function watchReader(response: ServerResponse, options: Pick<HttpOutletOptions, 'limits' | 'pulse'>): void {
  if (response.socket === null || response.socket.writableLength === 0) return
  const until = Date.now() + options.limits.writeMs
  const lingering: Beating = {
    beat: (now) => {
      if (response.writableFinished || response.destroyed) options.pulse.delete(lingering)
      else if (now >= until) response.destroy()
    },
  }
  options.pulse.add(lingering)
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
