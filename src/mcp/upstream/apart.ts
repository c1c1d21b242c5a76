import type { Sending, WireOutcome } from '../../flow/receipt/receipt.ts'
import type { Permit } from '../../flow/side-effect/operation.ts'
import type { ConnectedUpstream } from './connection.ts'
import { type Lent, Seat } from './seat.ts'
import type { ConnectionState } from './upstream.ts'

/** Whose connection it is. */
export interface Holder {
  readonly tenant: string
  readonly principal: string
}

export interface ApartOptions {
  /** The one whose lists are measured against the approvals. */
  readonly first: ConnectedUpstream
  /** One more connection to the same server. */
  readonly open: (holder: Holder) => ConnectedUpstream
  /** The operator says that what one principal leaves in the server, others may find. */
  readonly shared: boolean
  /** How many more there may be at one time. */
  readonly most: number
  /** After so long without a call one of them is ended. */
  readonly idleMs: number
}

/** For `server show`. */
export interface ApartFigures {
  readonly shared: boolean
  /** Connections besides the first one. */
  readonly open: number
  readonly most: number
}

const CHECK_EVERY_MS = 30_000

/**
 * One upstream for many principals. What a server keeps in a process or a session (a count, a login, a working folder) is the
 * state of whoever called it: each principal has a connection of its own (IBM/mcp-context-forge#2055). The first one belongs to
 * the principal that calls first, until it is made anew. Over HTTP in the modern era there is no session to share.
 */
export class ApartUpstream {
  readonly #options: ApartOptions
  readonly #seats = new Map<string, Seat>()
  readonly #closing = new Set<Promise<void>>()
  readonly #reaper: NodeJS.Timeout
  #first: { readonly owner: string; readonly of: ConnectionState } | undefined

  constructor(options: ApartOptions) {
    this.#options = options
    const every = Math.min(CHECK_EVERY_MS, Math.max(10, options.idleMs / 2))
    this.#reaper = setInterval(() => this.#reap(), every).unref()
  }

  get figures(): ApartFigures {
    const { shared, most } = this.#options
    return { shared: shared || keepsNothing(this.#options.first.state), open: this.#seats.size, most }
  }

  send(permit: Permit, sending: Sending): Promise<WireOutcome> {
    const { first } = this.#options
    const place = this.#placeOf(permit.action.principal)
    if (place === 'first') return first.send(permit, sending)
    if (place === undefined) return Promise.resolve({ kind: 'not-sent', why: this.#full() })
    const { state } = first
    return place.send(permit, sending, state.kind === 'ready' ? state.negotiated.instructions : undefined)
  }

  /** The connection of this principal, for what is no call. It is kept until it is given back; undefined where there is no room. */
  async lend(principal: { readonly tenant: string; readonly id: string }): Promise<Lent | undefined> {
    const place = this.#placeOf(principal)
    if (place === 'first') return { upstream: this.#options.first, done: () => {} }
    return place?.lend()
  }

  #placeOf({ tenant, id }: { readonly tenant: string; readonly id: string }): 'first' | Seat | undefined {
    const { first, shared } = this.#options
    const { state } = first
    if (shared || state.kind !== 'ready' || keepsNothing(state)) return 'first'
    const owner = JSON.stringify([tenant, id])
    const held = this.#seats.get(owner)
    if (held !== undefined) return held
    if (this.#first?.of !== state) this.#first = { owner, of: state }
    if (this.#first.owner === owner) return 'first'
    return this.#sit(owner, { tenant, principal: id })
  }

  #full(): string {
    return `${this.#options.most} other principals are using this server just now`
  }

  async close(): Promise<void> {
    clearInterval(this.#reaper)
    for (const owner of this.#seats.keys()) this.#leave(owner)
    await Promise.all(this.#closing)
  }

  #sit(owner: string, holder: Holder): Seat | undefined {
    if (this.#seats.size >= this.#options.most && !this.#makeRoom()) return undefined
    // It does not come back by itself: only the first connection tries again when a server is down, and so there is no herd.
    const seat: Seat = new Seat(this.#options.open(holder), () => {
      if (this.#seats.get(owner) === seat) this.#leave(owner)
    })
    this.#seats.set(owner, seat)
    return seat
  }

  #makeRoom(): boolean {
    let oldest: string | undefined
    let since = Infinity
    const now = performance.now()
    for (const [owner, seat] of this.#seats) {
      if (!seat.isIdle(now) || seat.usedAt >= since) continue
      oldest = owner
      since = seat.usedAt
    }
    if (oldest === undefined) return false
    this.#leave(oldest)
    return true
  }

  #reap(): void {
    const now = performance.now()
    for (const [owner, seat] of this.#seats)
      if (seat.isIdle(now) && now - seat.usedAt >= this.#options.idleMs) this.#leave(owner)
  }

  #leave(owner: string): void {
    const seat = this.#seats.get(owner)!
    this.#seats.delete(owner)
    const closed = seat.close().finally(() => this.#closing.delete(closed))
    this.#closing.add(closed)
  }
}

/** 2026-07-28, "Streamable HTTP": there are no sessions, and each request stands alone. */
function keepsNothing(state: ConnectionState): boolean {
  return state.kind === 'ready' && state.negotiated.transport === 'http' && state.negotiated.era === 'modern'
}
