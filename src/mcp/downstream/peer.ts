import type { RequestId } from '../wire/jsonrpc.ts'
import type { LogLevel } from '../../flow/receipt/receipt.ts'
import { UNSAID } from './logging.ts'
import { Questions } from './questions.ts'
import { Watching } from './watching.ts'

/** Something under way that its client may cancel by the id of the request. */
export interface Cancellable {
  readonly id: RequestId
  cancel(why: string): void
}

/** A client that stays: a legacy session, or the other end of a pipe. */
export class Peer {
  readonly questions = new Questions()
  readonly watching = new Watching()
  /** From which level up it hears what servers say of its calls; legacy only. */
  logLevel: LogLevel = UNSAID
  /** Called when the last thing under way has ended. */
  onQuiet: (() => void) | undefined
  readonly #running = new Set<Cancellable>()

  get running(): number {
    return this.#running.size
  }

  /** Something that belongs to no request. False where it cannot be delivered. */
  say(_message: string): boolean {
    return false
  }

  began(one: Cancellable): void {
    this.#running.add(one)
  }

  ended(one: Cancellable): void {
    if (this.#running.delete(one) && this.#running.size === 0) this.onQuiet?.()
  }

  /** More than one where the client used an id twice: each has its own answer, and a cancel means them all. */
  cancel(id: RequestId): void {
    for (const one of this.#running) if (one.id === id) one.cancel('cancelled by the client')
  }

  runs(id: RequestId): boolean {
    for (const one of this.#running) if (one.id === id) return true
    return false
  }

  /** The client is gone for good: nobody is there to answer a question or to hear an answer. */
  close(): void {
    this.questions.close()
    this.watching.close()
    for (const one of this.#running) one.cancel('the client is gone')
  }
}
