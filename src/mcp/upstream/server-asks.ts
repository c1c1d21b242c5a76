import { randomUUID } from 'node:crypto'
import { type AskReply, type Asking, askError, askErrors, askKinds, isAskMethod } from '../../flow/receipt/ask.ts'
import { textMember, type Json, type JsonObject } from '../../words/json.ts'
import { errorCodes, errorText, idText, isRequestId, resultText, type RequestId } from '../wire/jsonrpc.ts'

/** One call under way whose server may ask something. */
export interface AskableCall {
  readonly asking: Asking
  /** The deadline of a call does not run while its server waits for a person. */
  pause(): void
  resume(): void
}

/** A request of a server of the older era. */
export interface ServerRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
}

// A server that has more open than this does not wait for anybody.
const AT_ONCE = 64
const KEPT_ELICITATIONS = 256

/**
 * What a server of the older era asks on one connection, and to which call each belongs. On HTTP the stream says it; on a pipe
 * nothing does, so that an ask is given to a caller only where no other caller can be meant.
 */
export class ServerAsks {
  readonly #calls = new Map<number, AskableCall>()
  readonly #open = new Map<string, AbortController>()
  readonly #elicitations = new Map<string, { readonly asking: Asking; readonly ours: string }>()
  #post: ((text: string) => void) | undefined
  /** What the server was told that it may ask. */
  readonly #offers: JsonObject

  constructor(offers: JsonObject) {
    this.#offers = offers
  }

  /** From here on answers can be sent. */
  through(post: (text: string) => void): void {
    this.#post = post
  }

  began(id: number, call: AskableCall): void {
    this.#calls.set(id, call)
  }

  ended(id: number): void {
    this.#calls.delete(id)
  }

  /** The link is gone: nobody waits for an answer any more. */
  close(): void {
    for (const open of this.#open.values()) open.abort(new Error('the connection is gone'))
  }

  /** `leg` is the request on whose stream it came, where it came on one. */
  request({ id, method, params }: ServerRequest, leg: number | undefined): void {
    if (method === 'ping') return this.#post?.(resultText(id, '{}'))
    if (!isAskMethod(method)) return this.#post?.(errorText(id, errorCodes.methodNotFound, 'Method not found'))
    const key = idText(id)
    if (this.#open.has(key)) return this.#answer(id, askError(errorCodes.invalidRequest, 'The id is in use'))
    if (this.#open.size >= AT_ONCE) return this.#answer(id, askError(askErrors.internal, 'Too many requests are open'))
    const call = this.#meant(leg)
    if (typeof call === 'string') {
      const known = Object.hasOwn(this.#offers, askKinds[method])
      const error = known ? askError(askErrors.internal, call) : askError(askErrors.methodNotFound, 'Method not found')
      return this.#answer(id, error)
    }
    const open = new AbortController()
    this.#open.set(key, open)
    call.pause()
    void call.asking
      .ask([{ key: `ask-${key.replaceAll('"', '')}`, method, params: this.#renamed(params, call.asking) }], open.signal)
      .catch(() => [askError(askErrors.internal, 'Internal error')])
      .then(([reply]) => {
        this.#open.delete(key)
        call.resume()
        // Who withdrew the question wants no answer to it (2025-11-25, "Cancellation").
        if (!open.signal.aborted) this.#answer(id, reply ?? askError(askErrors.internal, 'Internal error'))
      })
  }

  /** `notifications/cancelled` and `notifications/elicitation/complete`; true where it was one of these. */
  notified(method: string, params: JsonObject): boolean {
    if (method === 'notifications/cancelled') {
      const id = params['requestId']
      if (isRequestId(id)) this.#open.get(idText(id))?.abort(new Error('withdrawn by the server'))
      return true
    }
    if (method !== 'notifications/elicitation/complete') return false
    const theirs = textMember(params, 'elicitationId')
    const known = theirs === undefined ? undefined : this.#elicitations.get(theirs)
    if (known === undefined) return true
    this.#elicitations.delete(theirs!)
    known.asking.tell(method, { elicitationId: known.ours })
    return true
  }

  #meant(leg: number | undefined): AskableCall | string {
    if (leg !== undefined) return this.#calls.get(leg) ?? NO_CALL
    const calls = [...this.#calls.values()]
    const latest = calls.at(-1)
    if (latest === undefined) return NO_CALL
    return calls.every(({ asking }) => asking.owner === latest.asking.owner)
      ? latest
      : 'Calls of several clients are under way, and the request names none of them'
  }

  /** Two servers may use the same id; what a client is told is ours, and cannot be guessed. */
  #renamed(params: JsonObject, asking: Asking): JsonObject {
    const theirs = textMember(params, 'elicitationId')
    if (theirs === undefined) return params
    const ours = randomUUID()
    this.#elicitations.delete(theirs)
    this.#elicitations.set(theirs, { asking, ours })
    if (this.#elicitations.size > KEPT_ELICITATIONS) this.#elicitations.delete(this.#elicitations.keys().next().value!)
    return { ...params, elicitationId: ours }
  }

  #answer(id: RequestId, reply: AskReply): void {
    const data = (value: Json | undefined): string | undefined =>
      value === undefined ? undefined : JSON.stringify(value)
    this.#post?.(
      reply.kind === 'result'
        ? resultText(id, JSON.stringify(reply.value))
        : errorText(id, reply.code, reply.message, data(reply.data)),
    )
  }
}

const NO_CALL = 'No call is under way to which the request could belong'
