import type { IncomingMessage } from 'node:http'
import { Growing } from '../wire/growing.ts'
import type { Beating, Pulse } from './pulse.ts'

/** What came of reading a body. After `broken` nobody is there to be answered. */
export type Intake =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'too-slow' }
  | { readonly kind: 'broken' }

/**
 * Reads a request's body, of so many bytes and within so much time. What comes after the limit is thrown away unread, so
 * that the client can still read why.
 */
export function takeBody(
  request: IncomingMessage,
  limits: { readonly bytes: number; readonly ms: number },
  pulse: Pulse,
  then: (intake: Intake) => void,
): void {
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > limits.bytes) {
    request.resume()
    return then({ kind: 'too-large' })
  }
  new Reading(request, limits, pulse, then).start()
}

class Reading implements Beating {
  readonly #request: IncomingMessage
  readonly #limit: number
  readonly #until: number
  readonly #pulse: Pulse
  #then: ((intake: Intake) => void) | undefined
  /** Most bodies come in one piece. */
  #first: Buffer | undefined
  #joined: Growing | undefined

  constructor(
    request: IncomingMessage,
    limits: { readonly bytes: number; readonly ms: number },
    pulse: Pulse,
    then: (intake: Intake) => void,
  ) {
    this.#request = request
    this.#limit = limits.bytes
    this.#until = Date.now() + limits.ms
    this.#pulse = pulse
    this.#then = then
  }

  start(): void {
    this.#pulse.add(this)
    this.#request.on('data', (piece: Buffer) => this.#take(piece))
    this.#request.on('end', () => this.#end({ kind: 'body', bytes: this.#joined?.take() ?? this.#first ?? EMPTY }))
    // Also after an abort, which node reports as an error to those only who ask for errors.
    this.#request.on('close', () => this.#end({ kind: 'broken' }))
  }

  beat(now: number): void {
    if (now >= this.#until) this.#end({ kind: 'too-slow' })
  }

  #take(piece: Buffer): void {
    if (this.#then === undefined) return
    if (this.#first === undefined) {
      if (piece.length > this.#limit) this.#end({ kind: 'too-large' })
      else this.#first = piece
      return
    }
    if (this.#joined === undefined) {
      this.#joined = new Growing(this.#limit)
      this.#joined.add(this.#first)
    }
    if (!this.#joined.add(piece)) this.#end({ kind: 'too-large' })
  }

  #end(intake: Intake): void {
    const then = this.#then
    if (then === undefined) return
    this.#then = undefined
    this.#first = undefined
    this.#joined = undefined
    this.#pulse.delete(this)
    then(intake)
  }
}

const EMPTY = Buffer.alloc(0)
