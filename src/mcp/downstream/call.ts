import { randomBytes } from 'node:crypto'
import type { Caller } from '../../flow/answer.ts'
import type { Approval } from '../../flow/consent/consented.ts'
import type { Answerer } from '../../flow/receipt/ask.ts'
import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import { type RequestId, isRequestId, notificationText } from '../wire/jsonrpc.ts'
import { type Reply as Decision, formOf, replyIn } from './elicitation.ts'
import type { FrontDoor } from './front-door.ts'
import { legacyAnswerer } from './legacy-answerer.ts'
import { levelOf, logRelay } from './logging.ts'
import { ModernAnswerer } from './modern-answerer.ts'
import type { Parkable } from './parked.ts'
import type { Peer } from './peer.ts'
import type { Beating } from './pulse.ts'
import type { Reply } from './reply.ts'
import { type ClientRequest, type Outlet, metaOf, ownerKey } from './request.ts'
import { requestDigest } from './request-state.ts'
import { askedReply } from './rounds.ts'
import { TaskOutlet } from './task-outlet.ts'
import { traceOf } from './trace.ts'

const UNDER_WAY = 'the call is under way'

/** One call while it is under way, as the flow sees its caller. */
export class Call implements Caller, Beating, Parkable {
  readonly consent: 'wait' | 'defer'
  readonly elicit?: NonNullable<Caller['elicit']>
  /** A function of its own, which may be handed on; absent where the client did not ask, so that nobody else is asked. */
  readonly relayProgress?: NonNullable<Caller['relayProgress']>
  readonly relayLogs?: NonNullable<Caller['relayLogs']>
  readonly trace?: NonNullable<Caller['trace']>
  readonly answers?: Answerer
  /** Of the client's latest request: in the modern era a call may take several. */
  #request: ClientRequest
  #outlet: Outlet
  #peer: Peer | undefined
  readonly #door: FrontDoor
  readonly #rounds: ModernAnswerer | undefined
  /** The client was asked something, and has not come back yet. */
  #isParked = false
  #parkId: string | undefined
  /** The answer of a call that ended meanwhile. */
  #kept: ((request: ClientRequest) => Reply) | undefined
  readonly #controller = new AbortController()
  /** Only a client that gave one is sent progress: others drop the connection on a token that they do not know. */
  #token: RequestId | undefined
  #message = UNDER_WAY
  #progress = 0
  #toldAt: number
  /** What the upstream's own figures are added to, so that what the client sees only grows. */
  #base: number | undefined
  #over = false

  constructor(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer: Peer | undefined) {
    this.#request = request
    this.#outlet = outlet
    this.#door = door
    this.#peer = peer
    this.#toldAt = Date.now()
    this.#token = tokenOf(request)
    if (this.#token !== undefined) this.relayProgress = (upstream) => this.#relay(upstream)
    const level = outlet.streams ? levelOf(request, peer) : undefined
    if (level !== undefined) this.relayLogs = logRelay(level, (message) => !this.#over && this.#outlet.send(message))
    const trace = traceOf(metaOf(request.params))
    if (trace !== undefined) this.trace = trace
    this.consent = request.era === 'modern' && request.client.forms ? 'defer' : 'wait'
    if (peer !== undefined && request.era === 'legacy' && request.client.forms && outlet.streams) {
      this.elicit = (approval, signal) => this.#elicit(peer, approval, signal)
    }
    if (request.era === 'modern') {
      const given = member(request.params, 'requestState') === undefined ? responsesOf(request) : {}
      this.#rounds = new ModernAnswerer(request.client.offers, given, () => this.#park())
      this.answers = this.#rounds
    } else if (peer !== undefined && outlet.streams) {
      this.answers = legacyAnswerer(request.client.offers, peer, (message) => !this.#over && outlet.send(message))
    }
    this.#attach()
  }

  get id(): RequestId {
    return this.#request.id
  }

  get owner(): string {
    return ownerKey(this.#request.principal)
  }

  get parkId(): string {
    return (this.#parkId ??= randomBytes(16).toString('hex'))
  }

  isOf({ method, params, principal, client }: ClientRequest): boolean {
    return (
      this.owner === ownerKey(principal) &&
      JSON.stringify(client.offers) === JSON.stringify(this.#request.client.offers) &&
      requestDigest(method, params) === requestDigest(this.#request.method, this.#request.params)
    )
  }

  /** What the server wanted, and a client of the newer era did not declare for this call. */
  get lacking(): JsonObject {
    return this.#rounds?.lacking ?? {}
  }

  /** Another call answers the request of this one. */
  giveWay(to: Call): void {
    if (this.#over) return
    this.#end()
    to.resume(this.#request, this.#outlet, this.#peer)
  }

  /** The client has come back with what it was asked. */
  resume(request: ClientRequest, outlet: Outlet, peer: Peer | undefined): void {
    this.#request = request
    this.#outlet = outlet
    this.#peer = peer
    this.#token = tokenOf(request)
    this.#progress = 0
    this.#base = undefined
    this.#isParked = false
    this.#attach()
    if (this.#kept !== undefined) return this.finish(this.#kept)
    this.#rounds?.answered(responsesOf(request))
    // What is missing, or does not fit, is asked for again.
    if (this.#rounds?.isWaiting === true) this.#rounds.presentSoon()
  }

  forsaken(why: string): void {
    this.#isParked = false
    this.#over = true
    this.#controller.abort(new Error(why))
    this.#rounds?.giveUp()
  }

  /** The client hears what it is asked, and the call goes on without it until it comes back. */
  #park(): boolean {
    if (this.#over || this.#rounds === undefined) return false
    // It is asked when it comes back.
    if (this.#isParked) return true
    const parked = this.#door.parked.park(this)
    if (parked === undefined) return false
    this.#isParked = true
    this.#detach()
    this.#outlet.reply(askedReply(this.#request, this.#rounds.inputRequests, parked, this.#door))
    return true
  }

  #attach(): void {
    if (this.#outlet instanceof TaskOutlet) this.#outlet.onWithdrawn = () => this.withdraw('the task was cancelled')
    this.#outlet.onLeft = () => this.cancel('the client closed the stream')
    this.#peer?.began(this)
    this.#door.pulse.add(this)
  }

  #detach(): void {
    this.#outlet.onLeft = undefined
    this.#peer?.ended(this)
    this.#door.pulse.delete(this)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** False when nobody waits for the answer any more, which in the legacy era is not yet a cancel. */
  get attached(): boolean {
    return !this.#over && (this.#isParked || !this.#outlet.gone)
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

  /** Its caller wants it to stop, and still wants to hear what becomes of it. */
  withdraw(why: string): void {
    if (!this.#over) this.#controller.abort(new Error(why))
  }

  finish(reply: (request: ClientRequest) => Reply): void {
    if (this.#over) return
    if (this.#isParked) {
      this.#kept = reply
      return
    }
    this.#end()
    this.#outlet.reply(reply(this.#request))
  }

  #end(): void {
    this.#over = true
    this.#detach()
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
    if (this.#over || this.#isParked || this.#token === undefined) return
    const params = { progressToken: this.#token, ...progress }
    this.#outlet.send(notificationText('notifications/progress', JSON.stringify(params)))
  }
}

function tokenOf(request: ClientRequest): RequestId | undefined {
  const token = member(metaOf(request.params), 'progressToken')
  return isRequestId(token) ? token : undefined
}

function responsesOf(request: ClientRequest): JsonObject {
  const responses = member(request.params, 'inputResponses')
  return isJsonObject(responses) ? responses : {}
}
