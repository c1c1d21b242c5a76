import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import { metaKeys } from '../wire/envelope.ts'
import { type RequestId, errorCodes, notificationText } from '../wire/jsonrpc.ts'
import { type Changed, type Changes, changeMethods } from './changes.ts'
import type { FrontDoor } from './front-door.ts'
import type { DownstreamLimits } from './options.ts'
import type { Peer } from './peer.ts'
import type { Beating, Pulse } from './pulse.ts'
import { REFUSED, refusalData, refusalText, refused } from './refused.ts'
import { failure, success } from './reply.ts'
import { type ClientRequest, type Outlet, ownerKey } from './request.ts'
import { MOST_WATCHED, updatedText, watch } from './watching.ts'

/** What a filter may ask for that we can serve, by its name on the wire. */
const filters: ReadonlyArray<readonly [name: string, what: Changed]> = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
]

/** Every `subscriptions/listen` that is open (2026-07-28, "Subscriptions"). */
export class Subscriptions {
  readonly #open = new Map<Subscription, string>()
  readonly #changes: Changes
  readonly #pulse: Pulse
  readonly #limits: DownstreamLimits

  constructor(changes: Changes, pulse: Pulse, limits: DownstreamLimits) {
    this.#changes = changes
    this.#pulse = pulse
    this.#limits = limits
  }

  listen(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer: Peer | undefined): void {
    const { id, params, principal } = request
    const filter = member(params, 'notifications')
    if (!isJsonObject(filter)) {
      return outlet.reply(failure(id, errorCodes.invalidParams, 'params.notifications is missing'))
    }
    if (!outlet.streams) {
      return outlet.reply(failure(id, errorCodes.invalidRequest, 'Accept lacks text/event-stream', undefined, 406))
    }
    const owner = ownerKey(principal)
    if (this.#isFull(owner)) {
      const no = refused('TOO_MANY_AT_ONCE', { limit: this.#limits.subscriptionsPerPrincipal })
      return outlet.reply(failure(id, REFUSED, refusalText(no), refusalData(no), 429))
    }
    const served = filters.filter(([name]) => member(filter, name) === true)
    const subscription = new Subscription(id, new Set(served.map(([, what]) => what)), outlet)
    const names = Object.fromEntries(served.map(([name]) => [name, true]))
    const wanted = member(filter, 'resourceSubscriptions')
    if (!Array.isArray(wanted)) return this.#begin(subscription, names, owner, outlet, peer)
    const uris = [...new Set(wanted as readonly Json[])].filter((uri) => typeof uri === 'string').slice(0, MOST_WATCHED)
    // It counts, and can be cancelled, while the servers are asked.
    this.#open.set(subscription, owner)
    peer?.began(subscription)
    subscription.onEnd = () => {
      this.#open.delete(subscription)
      peer?.ended(subscription)
    }
    outlet.onLeft = () => subscription.cancel()
    void Promise.all(uris.map((uri) => watch(request, uri, door, subscription.signal, subscription.updated)))
      .then((watches) => {
        const stops = watches.filter((stop) => typeof stop === 'function')
        subscription.onGone = () => stops.forEach((stop) => stop())
        if (subscription.signal.aborted) return subscription.onGone()
        const honoured = uris.filter((_, n) => typeof watches[n] === 'function')
        const all = honoured.length === 0 ? names : { ...names, resourceSubscriptions: honoured }
        this.#begin(subscription, all, owner, outlet, peer)
      })
      .catch((fault: unknown) => {
        door.ports.onFault(fault, request.method)
        outlet.reply(failure(id, errorCodes.internal, 'Internal error'))
      })
  }

  #begin(
    subscription: Subscription,
    honoured: { readonly [name: string]: Json },
    owner: string,
    outlet: Outlet,
    peer: Peer | undefined,
  ): void {
    const ack = { _meta: { [metaKeys.subscriptionId]: subscription.id }, notifications: honoured }
    if (!outlet.send(notificationText('notifications/subscriptions/acknowledged', JSON.stringify(ack)))) {
      return subscription.cancel()
    }
    subscription.begin()
    // A stream on which nothing can ever come would only be held open.
    if (Object.keys(honoured).length === 0) return subscription.end()
    this.#hold(subscription, owner, outlet, peer)
  }

  close(): void {
    for (const subscription of this.#open.keys()) subscription.end()
  }

  #hold(subscription: Subscription, owner: string, outlet: Outlet, peer: Peer | undefined): void {
    const leave = this.#changes.listen((what) => subscription.tell(what))
    this.#open.set(subscription, owner)
    this.#pulse.add(subscription)
    peer?.began(subscription)
    subscription.onEnd = () => {
      leave()
      this.#open.delete(subscription)
      this.#pulse.delete(subscription)
      peer?.ended(subscription)
    }
    outlet.onLeft = () => subscription.cancel()
  }

  #isFull(owner: string): boolean {
    if (this.#open.size >= this.#limits.subscriptions) return true
    let own = 0
    for (const other of this.#open.values()) if (other === owner) own++
    return own >= this.#limits.subscriptionsPerPrincipal
  }
}

class Subscription implements Beating {
  readonly id: RequestId
  onEnd: () => void = () => {}
  /** Ends the watches of resources. */
  onGone: () => void = () => {}
  readonly #controller = new AbortController()
  /** Changed before the stream was acknowledged, which has to come first; undefined from then on. */
  #early: Set<string> | undefined = new Set()
  readonly #wants: ReadonlySet<Changed>
  readonly #outlet: Outlet

  constructor(id: RequestId, wants: ReadonlySet<Changed>, outlet: Outlet) {
    this.id = id
    this.#wants = wants
    this.#outlet = outlet
  }

  tell(what: ReadonlySet<Changed>): void {
    const params = JSON.stringify({ _meta: { [metaKeys.subscriptionId]: this.id } } satisfies JsonObject)
    for (const one of what) {
      // Who does not read is cut off: it has to listen, and list, again.
      if (this.#wants.has(one) && !this.#outlet.send(notificationText(changeMethods[one], params))) return this.cancel()
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  readonly updated = (uri: string): void => {
    if (this.#early !== undefined) return void this.#early.add(uri)
    const params = { uri, _meta: { [metaKeys.subscriptionId]: this.id } }
    if (!this.#outlet.send(updatedText(params))) this.cancel()
  }

  begin(): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const uri of early) this.updated(uri)
  }

  beat(now: number): void {
    if (this.#outlet.gone) this.cancel()
    else this.#outlet.keepAlive(now)
  }

  cancel(): void {
    this.#gone()
    this.#outlet.abandon()
  }

  #gone(): void {
    this.#controller.abort()
    this.onGone()
    this.onGone = () => {}
    this.onEnd()
  }

  end(): void {
    this.#gone()
    const result = { resultType: 'complete', _meta: { [metaKeys.subscriptionId]: this.id } }
    this.#outlet.reply(success(this.id, JSON.stringify(result)))
  }
}
