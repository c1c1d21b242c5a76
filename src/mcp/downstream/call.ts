import type { Caller } from '../../flow/answer.ts'
import type { Approval } from '../../flow/consent/consented.ts'
import { type Json, type JsonObject, member } from '../../words/json.ts'
import { type RequestId, isRequestId, notificationText } from '../wire/jsonrpc.ts'
import { type Reply as Decision, formOf, replyIn } from './elicitation.ts'
import type { FrontDoor } from './front-door.ts'
import { levelOf, logRelay } from './logging.ts'
import type { Peer } from './peer.ts'
import type { Beating } from './pulse.ts'
import type { Reply } from './reply.ts'
import { type ClientRequest, type Outlet, metaOf } from './request.ts'
import { traceOf } from './trace.ts'

const UNDER_WAY = 'the call is under way'

/** One call while it is under way, as the flow sees its caller. */
export class Call implements Caller, Beating {
  readonly id: RequestId
  readonly consent: 'wait' | 'defer'
  readonly elicit?: NonNullable<Caller['elicit']>
  /** A function of its own, which may be handed on; absent where the client did not ask, so that nobody else is asked. */
  readonly relayProgress?: NonNullable<Caller['relayProgress']>
  readonly relayLogs?: NonNullable<Caller['relayLogs']>
  readonly trace?: NonNullable<Caller['trace']>
  readonly #outlet: Outlet
  readonly #door: FrontDoor
  readonly #peer: Peer | undefined
  readonly #controller = new AbortController()
  /** Only a client that gave one is sent progress: others drop the connection on a token that they do not know. */
  readonly #token: RequestId | undefined
  #message = UNDER_WAY
  #progress = 0
  #toldAt: number
  /** What the upstream's own figures are added to, so that what the client sees only grows. */
  #base: number | undefined
  #over = false

  constructor(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer: Peer | undefined) {
    this.id = request.id
    this.#outlet = outlet
    this.#door = door
    this.#peer = peer
    this.#toldAt = Date.now()
    const token = member(metaOf(request.params), 'progressToken')
    this.#token = isRequestId(token) ? token : undefined
    if (this.#token !== undefined) this.relayProgress = (upstream) => this.#relay(upstream)
    const level = outlet.streams ? levelOf(request, peer) : undefined
    if (level !== undefined) this.relayLogs = logRelay(level, (message) => !this.#over && this.#outlet.send(message))
    const trace = traceOf(metaOf(request.params))
    if (trace !== undefined) this.trace = trace
    this.consent = request.era === 'modern' && request.client.forms ? 'defer' : 'wait'
    if (peer !== undefined && request.era === 'legacy' && request.client.forms && outlet.streams) {
      this.elicit = (approval, signal) => this.#elicit(peer, approval, signal)
    }
    outlet.onLeft = () => this.cancel('the client closed the stream')
    peer?.began(this)
    door.pulse.add(this)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** False when nobody waits for the answer any more, which in the legacy era is not yet a cancel. */
  get attached(): boolean {
    return !this.#over && !this.#outlet.gone
  }

  progress(message: string): void {
    this.#message = message
    if (this.#base === undefined) this.#tell(Date.now())
  }

  #relay(upstream: JsonObject): void {
    const progress = member(upstream, 'progress')
    if (typeof progress !== 'number') return
    this.#base ??= this.#progress
    const next = this.#base + progress
    if (next <= this.#progress && (this.#progress > 0 || progress < 0)) return
    const total = member(upstream, 'total')
    const message = member(upstream, 'message')
    this.#progress = next
    this.#send({
      progress: next,
      ...(typeof total === 'number' && { total: this.#base + total }),
      ...(typeof message === 'string' && { message }),
    })
  }

  /** The upstream's own progress, once there is any, is not mixed with signs of life from here. */
  beat(now: number): void {
    if (
      this.#token !== undefined &&
      this.#base === undefined &&
      now - this.#toldAt >= this.#door.options.limits.progressMs
    )
      this.#tell(now)
    this.#outlet.keepAlive(now)
  }

  /** Whether that stops anything is for the flow to say; the caller hears no more of it either way. */
  cancel(why: string): void {
    if (this.#over) return
    this.#end()
    this.#controller.abort(new Error(why))
    this.#outlet.abandon()
  }

  finish(reply: Reply): void {
    if (this.#over) return
    this.#end()
    this.#outlet.reply(reply)
  }

  #end(): void {
    this.#over = true
    this.#outlet.onLeft = undefined
    this.#peer?.ended(this)
    this.#door.pulse.delete(this)
  }

  async #elicit(peer: Peer, approval: Approval, signal: AbortSignal): Promise<Decision | undefined> {
    const params = JSON.stringify(formOf(approval))
    const carry = (message: string) => !this.#over && this.#outlet.send(message)
    return replyIn(await peer.questions.ask(carry, 'elicitation/create', params, signal))
  }

  #tell(now: number): void {
    if (this.#token === undefined) return
    this.#toldAt = now
    this.#progress++
    this.#send({ progress: this.#progress, message: this.#message })
  }

  #send(progress: { readonly [name: string]: Json }): void {
    if (this.#over) return
    const params = { progressToken: this.#token!, ...progress }
    this.#outlet.send(notificationText('notifications/progress', JSON.stringify(params)))
  }
}
