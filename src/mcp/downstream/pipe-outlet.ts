import type { Duplex } from 'node:stream'
import { type Reply, framed } from './reply.ts'
import type { Outlet } from './request.ts'

/** What is written to one pipe, line by line. */
export class PipeWriter {
  readonly #duplex: Duplex
  readonly #unreadBytes: number

  constructor(duplex: Duplex, unreadBytes: number) {
    this.#duplex = duplex
    this.#unreadBytes = unreadBytes
  }

  get gone(): boolean {
    return this.#duplex.destroyed || this.#duplex.writableEnded
  }

  /** More waits unread than should; `drain` will come. */
  get isCongested(): boolean {
    return this.#duplex.writableNeedDrain && this.#duplex.writableLength > this.#unreadBytes
  }

  message(text: string): boolean {
    if (this.gone || this.isCongested) return false
    this.#duplex.write(`${text}\n`)
    return true
  }

  /** An answer is always written: there are no more of them than calls that may be under way. */
  reply(reply: Reply): void {
    if (this.gone) return
    this.#duplex.write(framed('', reply, '\n'))
  }
}

/** Where one request on a pipe is answered. */
export class PipeOutlet implements Outlet {
  /** A client on a pipe cancels by a notification; when the pipe is gone its peer is closed. */
  onLeft: (() => void) | undefined
  readonly streams = true
  readonly #writer: PipeWriter
  #over = false

  constructor(writer: PipeWriter) {
    this.#writer = writer
  }

  get gone(): boolean {
    return this.#over || this.#writer.gone
  }

  send(message: string): boolean {
    return !this.#over && this.#writer.message(message)
  }

  reply(reply: Reply): void {
    if (this.#over) return
    this.#over = true
    this.#writer.reply(reply)
  }

  abandon(): void {
    this.#over = true
  }

  keepAlive(): void {}
}
