import { answerFault } from '../../flow/receipt/ask-checks.ts'
import { type Answerer, type Ask, type AskReply, askError, askErrors } from '../../flow/receipt/ask.ts'
import { type JsonObject, isJsonObject, member } from '../../words/json.ts'

interface Pending {
  readonly ask: Ask
  readonly settle: (reply: AskReply) => void
}

const unanswered = askError(askErrors.internal, 'The client did not answer')

/**
 * A client of the newer era is never sent a request: what is asked of it stands in the answer to its own, and it comes back
 * with what it says (2026-07-28, "Multi round-trip requests").
 */
export class ModernAnswerer implements Answerer {
  readonly offers: JsonObject
  readonly #pending = new Map<string, Pending>()
  /** Puts all that is open to the client; false where it cannot. */
  readonly #present: () => boolean
  /** What the client sent along unasked. */
  #given: JsonObject
  #presenting = false
  /** What a server wanted that this client did not declare. */
  #lacking: JsonObject = {}

  constructor(offers: JsonObject, given: JsonObject, present: () => boolean) {
    this.offers = offers
    this.#given = given
    this.#present = present
  }

  /** What is open, as `inputRequests` of a result. */
  get inputRequests(): JsonObject {
    return Object.fromEntries([...this.#pending].map(([key, { ask }]) => [key, requestOf(ask)]))
  }

  get isWaiting(): boolean {
    return this.#pending.size > 0
  }

  ask(asks: readonly Ask[], signal: AbortSignal): Promise<readonly AskReply[]> {
    const replies = asks.map((ask) => this.#ask(ask, signal))
    this.#given = {}
    return Promise.all(replies)
  }

  lacked(capabilities: JsonObject): void {
    this.#lacking = { ...this.#lacking, ...capabilities }
  }

  get lacking(): JsonObject {
    return this.#lacking
  }

  // Nothing can be sent to a client that did not ask.
  tell(): void {}

  /** What does not answer what was asked is left out, and asked for again; keys that nobody knows mean nothing. */
  answered(responses: JsonObject): void {
    for (const [key, { ask, settle }] of this.#pending) {
      const value = valueIn(responses, key, ask)
      if (value !== undefined) settle({ kind: 'result', value })
    }
  }

  giveUp(): void {
    for (const { settle } of this.#pending.values()) settle(unanswered)
  }

  /** What is asked in one go goes into one answer. */
  presentSoon(): void {
    if (this.#presenting) return
    this.#presenting = true
    setImmediate(() => {
      this.#presenting = false
      if (this.#pending.size > 0 && !this.#present()) this.giveUp()
    })
  }

  #ask(ask: Ask, signal: AbortSignal): Promise<AskReply> {
    const given = valueIn(this.#given, ask.key, ask)
    if (given !== undefined) return Promise.resolve({ kind: 'result', value: given })
    if (signal.aborted || this.#pending.has(ask.key)) return Promise.resolve(unanswered)
    const { promise, resolve } = Promise.withResolvers<AskReply>()
    const withdraw = (): void => settle(unanswered)
    const settle = (reply: AskReply): void => {
      this.#pending.delete(ask.key)
      signal.removeEventListener('abort', withdraw)
      resolve(reply)
    }
    this.#pending.set(ask.key, { ask, settle })
    signal.addEventListener('abort', withdraw, { once: true })
    this.presentSoon()
    return promise
  }
}

function valueIn(responses: JsonObject, key: string, ask: Ask): JsonObject | undefined {
  const value = member(responses, key)
  return isJsonObject(value) && answerFault(ask, value) === undefined ? value : undefined
}

function requestOf({ method, params }: Ask): JsonObject {
  const { elicitationId: _, ...known } = params
  return method === 'roots/list' ? { method } : { method, params: known }
}
