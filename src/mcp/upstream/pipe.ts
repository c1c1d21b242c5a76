import type { NoAnswer, WireOutcome } from '../../flow/receipt/receipt.ts'
import { idAtEnds, readMessage, type Message } from '../wire/message.ts'
import { eraOf, type Revision } from '../wire/revisions.ts'
import { endedBy, MOST_LEGS, notSent, type Leg, type LegRequest, type LinkEvents, type Strays } from './link.ts'

/**
 * Many requests over one pair of streams, told apart by their ids. What one answer does wrong is the matter of one request:
 * the others on the same stream do not notice.
 */
export class Pipe {
  readonly #waiting = new Map<number, LegRequest>()
  readonly #events: LinkEvents
  readonly #strays: Strays
  /** Answers why it cannot be written, having written nothing. */
  readonly #write: (text: string) => string | undefined
  #revision: Revision | undefined
  #closed: string | undefined
  #lastId = 0

  constructor(write: (text: string) => string | undefined, events: LinkEvents, strays: Strays) {
    this.#write = write
    this.#events = events
    this.#strays = strays
  }

  nextId(): number {
    return ++this.#lastId
  }

  speak(revision: Revision | undefined): void {
    this.#revision = revision
  }

  open(leg: LegRequest): Leg {
    const unsent = this.#tryToSend(leg)
    if (unsent !== undefined) {
      leg.end(notSent(unsent))
      return { sent: false, drop: () => {} }
    }
    return { sent: true, drop: () => void this.#waiting.delete(leg.id) }
  }

  post(text: string): Promise<void> {
    if (this.#closed === undefined) this.#write(text)
    return Promise.resolve()
  }

  /** No answer to that request will come, or it never left. One that was answered already, or never asked, is not touched. */
  lose(id: unknown, outcome: WireOutcome): void {
    this.#take(id)?.end({ outcome })
  }

  receive(bytes: Buffer): void {
    const message = readMessage(bytes)
    switch (message.kind) {
      case 'reply':
      case 'error': {
        const leg = this.#take(message.id)
        if (leg === undefined) this.#strays.answers++
        else leg.end(endedBy(message, this.#revision))
        return
      }
      case 'notification':
        this.#events.notification(message.method, message.params)
        return
      case 'request':
        this.#answer(message)
        return
      case 'garbage':
        this.#receiveGarbage(message)
        return
    }
  }

  receiveOversize(head: Buffer, tail: Buffer, length: number): void {
    this.#strays.oversize++
    const leg = this.#take(idAtEnds(head, tail))
    leg?.end({ outcome: { kind: 'no-answer', why: 'oversize', detail: `an answer of ${length} bytes` } })
  }

  /** The streams are gone: nothing that waits is answered any more, and nothing more is sent. */
  fail(why: NoAnswer, detail: string): void {
    this.#closed ??= detail
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const leg of waiting) leg.end({ outcome: { kind: 'no-answer', why, detail } })
  }

  #tryToSend(leg: LegRequest): string | undefined {
    if (this.#closed !== undefined) return this.#closed
    if (this.#waiting.size >= MOST_LEGS) return 'too many requests are under way to this server'
    this.#waiting.set(leg.id, leg)
    const unsent = this.#write(leg.text)
    if (unsent !== undefined) this.#waiting.delete(leg.id)
    return unsent
  }

  #take(id: unknown): LegRequest | undefined {
    if (typeof id !== 'number') return undefined
    const leg = this.#waiting.get(id)
    this.#waiting.delete(id)
    return leg
  }

  #answer(request: Extract<Message, { kind: 'request' }>): void {
    // Since 2026-07-28 a server sends no requests, and a client no answers.
    if (this.#revision !== undefined && eraOf(this.#revision) === 'modern') this.#strays.noise++
    else this.#events.request(request, undefined)
  }

  #receiveGarbage({ id, why }: Extract<Message, { kind: 'garbage' }>): void {
    const leg = this.#take(id)
    if (leg === undefined) this.#strays.noise++
    else leg.end({ outcome: { kind: 'no-answer', why: 'garbage', detail: why } })
  }
}
