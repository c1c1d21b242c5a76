import type { DownstreamLimits } from './options.ts'
import type { Beating, Pulse } from './pulse.ts'
import type { ClientRequest } from './request.ts'

/** A call that goes on without its client until that comes back with answers. */
export interface Parkable {
  /** Whose it is, as `ownerKey` says it. */
  readonly owner: string
  /** The name under which it is parked, the same each time. Nobody can guess it. */
  readonly parkId: string
  /** Whether the same client asked for the very same, without naming it. */
  isOf(request: ClientRequest): boolean
  /** The client did not come back in time, or will not be able to. */
  forsaken(why: string): void
}

/**
 * Calls of modern clients that wait between two rounds. They are kept here and nowhere else, since the upstream's request stays
 * open: a client that comes back elsewhere, or too late, does not find them.
 */
export class ParkedCalls<Call extends Parkable> implements Beating {
  readonly #byId = new Map<string, { readonly call: Call; readonly until: number }>()
  readonly #pulse: Pulse
  readonly #limits: DownstreamLimits

  constructor(pulse: Pulse, limits: DownstreamLimits) {
    this.#pulse = pulse
    this.#limits = limits
  }

  get size(): number {
    return this.#byId.size
  }

  /** Answers the name under which it can be taken; undefined where too many wait. */
  park(call: Call): { readonly id: string; readonly until: number } | undefined {
    const { parked, parkedPerPrincipal, questionMs } = this.#limits
    if (this.#byId.size >= parked) return undefined
    let own = 0
    for (const { call: other } of this.#byId.values()) if (other.owner === call.owner) own++
    if (own >= parkedPerPrincipal) return undefined
    const until = Date.now() + questionMs
    this.#byId.set(call.parkId, { call, until })
    this.#pulse.add(this)
    return { id: call.parkId, until }
  }

  /** Of a client that sends its call anew instead of coming back: the call that it means. */
  takeLike(request: ClientRequest): Call | undefined {
    for (const [id, { call }] of this.#byId) if (call.isOf(request)) return this.take(id)
    return undefined
  }

  take(id: string): Call | undefined {
    const found = this.#byId.get(id)
    this.#byId.delete(id)
    return found?.call
  }

  beat(now: number): void {
    for (const [id, { call, until }] of this.#byId) {
      if (now < until) continue
      this.#byId.delete(id)
      call.forsaken('the client did not come back with an answer')
    }
    if (this.#byId.size === 0) this.#pulse.delete(this)
  }

  close(): void {
    const calls = [...this.#byId.values()]
    this.#byId.clear()
    for (const { call } of calls) call.forsaken('the client is gone')
  }
}
