import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { type AskReply, askError, askErrors } from '../../flow/receipt/ask.ts'
import { type RequestId, notificationText, requestText } from '../wire/jsonrpc.ts'

/** Carries one message to the client; false when it cannot. */
export type Carry = (message: string) => boolean

// More open questions than this come from a fault, or from somebody who wants to tire a person.
const AT_ONCE = 64

interface Open {
  readonly settle: (reply: AskReply) => void
}

/** Requests that we put to a legacy client, and the answers that come back. Ids are ours; the client cannot choose them. */
export class Questions {
  readonly #open = new Map<RequestId, Open>()
  #asked = 0

  /** The client's result; undefined for an error, for no answer until `signal` aborts, and where it could not be asked. */
  async ask(carry: Carry, method: string, params: string, signal: AbortSignal): Promise<Json | undefined> {
    const reply = await this.put(carry, method, params, signal)
    return reply.kind === 'result' ? reply.value : undefined
  }

  /** The client's result, or its error; one of ours for no answer until `signal` aborts, and where it could not be asked. */
  put(carry: Carry, method: string, params: string, signal: AbortSignal): Promise<AskReply> {
    if (this.#open.size >= AT_ONCE || signal.aborted) return Promise.resolve(unanswered)
    const id = `countersign-${++this.#asked}`
    const { promise, resolve } = Promise.withResolvers<AskReply>()
    const withdraw = () => {
      if (!this.#open.has(id)) return
      carry(notificationText('notifications/cancelled', JSON.stringify({ requestId: id, reason: 'decided elsewhere' })))
      settle(unanswered)
    }
    const settle = (reply: AskReply) => {
      this.#open.delete(id)
      signal.removeEventListener('abort', withdraw)
      resolve(reply)
    }
    this.#open.set(id, { settle })
    signal.addEventListener('abort', withdraw, { once: true })
    if (!carry(requestText(id, method, params))) settle(unanswered)
    return promise
  }

  /** A JSON-RPC response of the client. What nobody asked for is ignored. */
  answer(response: Json): void {
    if (!isJsonObject(response)) return
    const id = member(response, 'id')
    const open = typeof id === 'string' ? this.#open.get(id) : undefined
    open?.settle(replyIn(response))
  }

  /** Nobody will answer any more. */
  close(): void {
    for (const { settle } of this.#open.values()) settle(unanswered)
  }
}

const unanswered = askError(askErrors.internal, 'The client did not answer')

function replyIn(response: JsonObject): AskReply {
  const result = member(response, 'result')
  if (isJsonObject(result)) return { kind: 'result', value: result }
  const error = member(response, 'error')
  if (!isJsonObject(error)) return unanswered
  const code = member(error, 'code')
  const message = textMember(error, 'message')
  return Number.isSafeInteger(code) && message !== undefined ? askError(code as number, message) : unanswered
}
