import type { Principal } from '../../flow/principal/principal.ts'
import { ownerKey } from './request.ts'

/** How many calls each principal has under way here. Modern requests stand alone: no session is there to count them. */
export class Callers {
  readonly #running = new Map<string, number>()

  of(principal: Principal): number {
    return this.#running.get(ownerKey(principal)) ?? 0
  }

  /** Answers what is to be called, once, when the call has ended. */
  began(principal: Principal): () => void {
    const owner = ownerKey(principal)
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1)
    return () => {
      const left = this.#running.get(owner)! - 1
      if (left === 0) this.#running.delete(owner)
      else this.#running.set(owner, left)
    }
  }
}
