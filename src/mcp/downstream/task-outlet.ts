import { randomBytes } from 'node:crypto'
import { type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { implementation, metaKeys } from '../wire/envelope.ts'
import { ownKeys } from './answers.ts'
import { type Reply, success } from './reply.ts'
import { type ClientRequest, type Outlet, ownerKey } from './request.ts'

/** How long a task can be asked for from its beginning; longer than any call may take. */
const TTL_MS = 3_600_000
const POLL_MS = 1_000

type State =
  | { readonly status: 'working' }
  | { readonly status: 'input_required'; readonly inputRequests: JsonObject }
  | { readonly status: 'completed'; readonly result: JsonObject }
  | { readonly status: 'failed'; readonly error: JsonObject }
  | { readonly status: 'cancelled'; readonly statusMessage: string }

/**
 * Where a call answers whose client can hold a task: the client itself when it is quick, otherwise a task from which the client
 * learns the answer later. To the call it is somebody who waits, for as long as the task is not given up.
 */
export class TaskOutlet implements Outlet {
  readonly id = randomBytes(16).toString('hex')
  readonly owner: string
  readonly request: ClientRequest
  readonly until = Date.now() + TTL_MS
  /** Tells the call that its caller wants it to stop, and still listens. */
  onWithdrawn: (() => void) | undefined
  readonly #createdAt = new Date().toISOString()
  readonly #outlet: Outlet
  readonly #timer: NodeJS.Timeout
  readonly #answers: { [key: string]: JsonObject[string] } = {}
  #held = false
  #withdrawn = false
  #state: State = { status: 'working' }
  #requestState: string | undefined
  #lastUpdatedAt = this.#createdAt

  /** @param hold Puts the task where it is found again; false where there is no room, and then the client waits. */
  constructor(request: ClientRequest, outlet: Outlet, afterMs: number, hold: (task: TaskOutlet) => boolean) {
    this.request = request
    this.owner = ownerKey(request.principal)
    this.#outlet = outlet
    this.#timer = setTimeout(() => {
      if (outlet.gone || !hold(this)) return
      this.#held = true
      outlet.onLeft = undefined
      const about = { resultType: 'task', _meta: { [metaKeys.serverInfo]: implementation } }
      outlet.reply(success(request.id, JSON.stringify({ ...this.#envelope(), ...about })))
    }, afterMs)
  }

  get gone(): boolean {
    return this.#held ? this.isOver : this.#outlet.gone
  }

  get streams(): boolean {
    return this.#outlet.streams
  }

  get isOver(): boolean {
    return this.#state.status !== 'working' && this.#state.status !== 'input_required'
  }

  get onLeft(): (() => void) | undefined {
    return this.#outlet.onLeft
  }

  // A client that holds a task leaves nothing when its stream ends.
  set onLeft(listener: (() => void) | undefined) {
    if (!this.#held) this.#outlet.onLeft = listener
  }

  send(message: string): boolean {
    return !this.#held && this.#outlet.send(message)
  }

  reply(reply: Reply): void {
    clearTimeout(this.#timer)
    if (!this.#held) return this.#outlet.reply(reply)
    if (this.isOver) return
    const { head, body, tail } = reply
    const text = head + (body === undefined ? '' : Buffer.from(body).toString('utf8')) + tail
    const { result, error } = JSON.parse(text) as { readonly result?: JsonObject; readonly error?: JsonObject }
    this.#become(result === undefined ? { status: 'failed', error: error ?? {} } : this.#ended(result))
  }

  abandon(): void {
    clearTimeout(this.#timer)
    if (!this.#held) return this.#outlet.abandon()
    if (!this.isOver) this.#become({ status: 'cancelled', statusMessage: 'Nobody waits for the call any more.' })
  }

  keepAlive(now: number): void {
    if (!this.#held) this.#outlet.keepAlive(now)
  }

  detail(): JsonObject {
    return { ...this.#envelope(), ...this.#state }
  }

  /**
   * What the client was asked, answered in one or several parts. Answers the request to go on with when nothing is open any
   * more. Keys that nobody asked for are ignored.
   */
  answer(responses: JsonObject): ClientRequest | undefined {
    if (this.#state.status !== 'input_required') return undefined
    const pending = { ...this.#state.inputRequests }
    for (const [key, value] of Object.entries(responses)) {
      if (!Object.hasOwn(pending, key)) continue
      delete pending[key]
      this.#answers[key] = value
    }
    if (Object.keys(pending).length > 0) {
      this.#become({ status: 'input_required', inputRequests: pending })
      return undefined
    }
    this.#become({ status: 'working' })
    const requestState = this.#requestState
    const params = { ...this.request.params, inputResponses: { ...this.#answers } }
    return { ...this.request, params: requestState === undefined ? params : { ...params, requestState } }
  }

  /** Whether that stops anything is for the flow to say: what has become of the call is heard all the same. */
  withdraw(): void {
    if (this.isOver) return
    this.#withdrawn = true
    if (this.#state.status === 'input_required') this.abandon()
    else this.onWithdrawn?.()
  }

  #envelope(): JsonObject {
    const { status } = this.#state
    return {
      taskId: this.id,
      status,
      createdAt: this.#createdAt,
      lastUpdatedAt: this.#lastUpdatedAt,
      ttlMs: TTL_MS,
      pollIntervalMs: POLL_MS,
    }
  }

  #ended(result: JsonObject): State {
    const asked = member(result, 'inputRequests')
    if (member(result, 'resultType') === 'input_required' && isJsonObject(asked)) {
      const state = member(result, 'requestState')
      this.#requestState = typeof state === 'string' ? state : undefined
      for (const key of Object.keys(this.#answers)) delete this.#answers[key]
      return { status: 'input_required', inputRequests: asked }
    }
    const meta = member(result, '_meta')
    const ownWord = isJsonObject(meta) && (ownKeys.refusal in meta || ownKeys.operation in meta)
    // Only where there is no answer of the tool: what has run has run, and is not called cancelled.
    if (this.#withdrawn && ownWord && member(result, 'isError') === true) {
      return { status: 'cancelled', statusMessage: firstText(result) }
    }
    return { status: 'completed', result }
  }

  #become(state: State): void {
    this.#state = state
    this.#lastUpdatedAt = new Date().toISOString()
  }
}

function firstText(result: JsonObject): string {
  const content = member(result, 'content')
  const first = Array.isArray(content) ? (content as readonly unknown[])[0] : undefined
  return isJsonObject(first) ? (textMember(first, 'text') ?? '') : ''
}
