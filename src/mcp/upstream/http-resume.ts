import type { Dispatcher } from 'undici'

type Controller = Dispatcher.DispatchController

/** How long to wait where the server does not say, and the most that it may say. */
const USUAL_MS = 1000
const MOST_MS = 30_000
/** How often in a row a stream is taken up of which nothing more came. */
const MOST_TRIES = 5

/** Where a stream stood when it was last heard (2025-11-25, "Resumability and Redelivery"). */
export class Position {
  #id: string | undefined
  #retryMs = USUAL_MS
  #fruitless = 0

  heard(id: string | undefined, retryMs: number | undefined): void {
    if (id !== undefined) {
      // It goes into a header. An empty one means: from here on, none.
      this.#id = /^[\x20-\x7e]{1,1024}$/.test(id) ? id : undefined
      this.#fruitless = 0
    }
    if (retryMs !== undefined) this.#retryMs = Math.min(retryMs, MOST_MS)
  }

  /** From where to go on, and in how many milliseconds; undefined where the server offered no way, or too often in vain. */
  next(): { readonly id: string; readonly inMs: number } | undefined {
    if (this.#id === undefined || this.#fruitless++ >= MOST_TRIES) return undefined
    return { id: this.#id, inMs: this.#retryMs }
  }
}

export interface Taken {
  chunk(chunk: Buffer): void
  /** Once. `why` is undefined where the stream was there, and has ended by itself. */
  ended(why: string | undefined): void
}

/**
 * Takes a stream up again by a GET, which asks for what is still to come of an answer and sends no call a second time.
 */
export class Resumption implements Dispatcher.DispatchHandler {
  readonly #taken: Taken
  readonly #timer: NodeJS.Timeout
  #controller: Controller | undefined
  #opened = false
  #over = false

  constructor(inMs: number, get: (handler: Dispatcher.DispatchHandler) => void, taken: Taken) {
    this.#taken = taken
    this.#timer = setTimeout(() => get(this), inMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
    const controller = this.#controller
    this.#end('stopped')
    controller?.abort(new Error('stopped'))
  }

  onRequestStart(controller: Controller): void {
    if (this.#over || this.#controller !== undefined) controller.abort(new Error('stopped'))
    else this.#controller = controller
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.#opened = status === 200 && String(headers['content-type']).startsWith('text/event-stream')
    if (this.#opened) return
    this.#end(`the stream ended without an answer, and is not to be taken up again (HTTP ${status})`)
    controller.abort(new Error('not a stream'))
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#opened && !this.#over) this.#taken.chunk(chunk)
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  onResponseError(): void {
    this.#end(this.#opened ? undefined : 'the stream ended without an answer, and the server cannot be reached')
  }

  #end(why: string | undefined): void {
    if (this.#over) return
    this.#over = true
    this.#taken.ended(why)
  }
}
