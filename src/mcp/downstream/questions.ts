import { type Json, isJsonObject, member } from '../../words/json.ts'
import { type RequestId, notificationText, requestText } from '../wire/jsonrpc.ts'

/** Carries one message to the client; false when it cannot. */
export type Carry = (message: string) => boolean

// More open questions than this come from a fault, or from somebody who wants to tire a person.
const AT_ONCE = 64

interface Open {
  readonly settle: (result: Json | undefined) => void
}

/** Requests that we put to a legacy client, and the answers that come back. Ids are ours; the client cannot choose them. */
export class Questions {
  readonly #open = new Map<RequestId, Open>()
  #asked = 0

  /** The client's result; undefined for an error, for no answer until `signal` aborts, and where it could not be asked. */
  ask(carry: Carry, method: string, params: string, signal: AbortSignal): Promise<Json | undefined> {
    if (this.#open.size >= AT_ONCE || signal.aborted) return Promise.resolve(undefined)
    const id = `countersign-${++this.#asked}`
    const { promise, resolve } = Promise.withResolvers<Json | undefined>()
    const withdraw = () => {
      if (!this.#open.has(id)) return
      carry(notificationText('notifications/cancelled', JSON.stringify({ requestId: id, reason: 'decided elsewhere' })))
      settle(undefined)
    }
    const settle = (result: Json | undefined) => {
      this.#open.delete(id)
      signal.removeEventListener('abort', withdraw)
      resolve(result)
    }
    this.#open.set(id, { settle })
    signal.addEventListener('abort', withdraw, { once: true })
    if (!carry(requestText(id, method, params))) settle(undefined)
    return promise
  }

  /** A JSON-RPC response of the client. What nobody asked for is ignored. */
  answer(response: Json): void {
    if (!isJsonObject(response)) return
    const id = member(response, 'id')
    const open = typeof id === 'string' ? this.#open.get(id) : undefined
    open?.settle(member(response, 'error') === undefined ? member(response, 'result') : undefined)
  }

  /** Nobody will answer any more. */
  close(): void {
    for (const { settle } of this.#open.values()) settle(undefined)
  }
}
