import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { readMessage } from '../wire/message.ts'
import { SseReader } from '../wire/sse.ts'
import { askedOnHttp } from './http-exchange.ts'
import type { HttpGround } from './http.ts'
import { Pauses, type PauseRange } from './pauses.ts'

type Controller = Dispatcher.DispatchController

interface StreamEnd {
  /** Of the answer; 0 where there was none. */
  readonly status: number
  readonly opened: boolean
}

/**
 * Holds the stream open on which a server of the older era says, unasked, that its lists have changed (2025-11-25, "Listening
 * for Messages from the Server"). A server may do without. When the stream breaks it is opened again, with growing pauses, and
 * each time a change may have been missed.
 */
export async function followChanges(
  get: (handler: Dispatcher.DispatchHandler) => void,
  ground: HttpGround,
  signal: AbortSignal,
  range?: PauseRange,
): Promise<void> {
  const pauses = new Pauses(range)
  for (let opened = 0; !signal.aborted;) {
    const began = performance.now()
    const end = await new Promise<StreamEnd>((resolve) => {
      get(new Stream(ground, signal, () => opened++ > 0 && ground.events.missed(), resolve))
    })
    if (!end.opened && end.status >= 400 && end.status < 500) {
      if (opened > 0 && end.status === 404 && ground.sessionId !== undefined) ground.sessionLost()
      if (end.status !== 429 && end.status !== 408) return
    }
    await sleep(pauses.after(performance.now() - began), undefined, { signal, ref: false }).catch(() => {})
  }
}

class Stream implements Dispatcher.DispatchHandler {
  readonly #reader: SseReader
  readonly #signal: AbortSignal
  readonly #onOpen: () => void
  readonly #resolve: (end: StreamEnd) => void
  #controller: Controller | undefined
  #status = 0
  #opened = false

  constructor(ground: HttpGround, signal: AbortSignal, onOpen: () => void, resolve: (end: StreamEnd) => void) {
    this.#signal = signal
    this.#onOpen = onOpen
    this.#resolve = resolve
    this.#reader = new SseReader(ground.messageBytes, {
      event: ({ data }) => {
        const message = data.length === 0 ? undefined : readMessage(data)
        if (message?.kind === 'notification') ground.events.notification(message.method, message.params)
        else if (message?.kind === 'request') askedOnHttp(ground, message, undefined)
        else if (message !== undefined) ground.strays.answers++
      },
      oversize: () => void ground.strays.oversize++,
    })
    signal.addEventListener('abort', this.#stop, { once: true })
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#signal.aborted) this.#stop()
  }

  onResponseStart(
    _controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.#status = status
    this.#opened = status === 200 && String(headers['content-type']).startsWith('text/event-stream')
    if (this.#opened) this.#onOpen()
    else this.#stop()
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#opened) this.#reader.push(chunk)
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(): void {
    this.#end()
  }

  readonly #stop = (): void => this.#controller?.abort(new Error('stopped'))

  #end(): void {
    this.#signal.removeEventListener('abort', this.#stop)
    this.#resolve({ status: this.#status, opened: this.#opened })
  }
}
