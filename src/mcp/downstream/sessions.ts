import type { Principal } from '../../flow/principal/principal.ts'
import type { LegacyRevision } from '../wire/revisions.ts'
import type { FrontDoor } from './front-door.ts'
import { Session } from './legacy-session.ts'
import type { Beating } from './pulse.ts'
import { type Client, ownerKey } from './request.ts'

/** All legacy sessions. Few clients say that they leave: what is not used goes after a while. */
export class Sessions implements Beating {
  readonly #door: FrontDoor
  readonly #byId = new Map<string, Session>()
  readonly #ofOwner = new Map<string, number>()
  readonly #leave: () => void

  constructor(door: FrontDoor) {
    this.#door = door
    this.#leave = door.changes.listen((what) => {
      for (const session of this.#byId.values()) session.changed(what)
    })
  }

  get size(): number {
    return this.#byId.size
  }

  /** Undefined where there are too many. One principal's own oldest idle session makes room for its next one. */
  open(principal: Principal, revision: LegacyRevision, client: Client): Session | undefined {
    const { sessions, sessionsPerPrincipal } = this.#door.options.limits
    const owner = ownerKey(principal)
    const isFull = () => this.#byId.size >= sessions || (this.#ofOwner.get(owner) ?? 0) >= sessionsPerPrincipal
    if (isFull() && !this.#dropIdleOf(owner)) return undefined
    const session = new Session(principal, revision, client)
    this.#byId.set(session.id, session)
    this.#ofOwner.set(owner, (this.#ofOwner.get(owner) ?? 0) + 1)
    this.#door.pulse.add(this)
    return session
  }

  /** Another principal's session is not found, just as one that never was. */
  find(id: string, principal: Principal): Session | undefined {
    const session = this.#byId.get(id)
    if (session === undefined || !session.belongsTo(principal)) return undefined
    session.usedAt = Date.now()
    return session
  }

  end(session: Session): void {
    if (!this.#byId.delete(session.id)) return
    const left = (this.#ofOwner.get(session.owner) ?? 1) - 1
    if (left === 0) this.#ofOwner.delete(session.owner)
    else this.#ofOwner.set(session.owner, left)
    session.close()
  }

  /** Calls under way may still be answered; nothing else is said any more. */
  endStreams(): void {
    this.#leave()
    for (const session of this.#byId.values()) session.endStream()
  }

  close(): void {
    this.#leave()
    this.#door.pulse.delete(this)
    for (const session of this.#byId.values()) this.end(session)
  }

  beat(now: number): void {
    const { sessionIdleMs, keepAliveMs, unreadBytes } = this.#door.options.limits
    for (const session of this.#byId.values()) {
      if (session.isIdle && now - session.usedAt >= sessionIdleMs) this.end(session)
      else session.keepAlive(now, keepAliveMs, unreadBytes)
    }
    if (this.#byId.size === 0) this.#door.pulse.delete(this)
  }

  #dropIdleOf(owner: string): boolean {
    let oldest: Session | undefined
    for (const session of this.#byId.values()) {
      if (session.owner !== owner || !session.isIdle) continue
      if (oldest === undefined || session.usedAt < oldest.usedAt) oldest = session
    }
    if (oldest === undefined) return false
    this.end(oldest)
    return true
  }
}
