import { refuse, type Refusal } from '../../words/verdict.ts'

export interface BreakerLimits {
  /** So many calls in a row that nobody answered, and the server is left alone. */
  readonly failures: number
  /** Milliseconds until one call may try it again. */
  readonly pauseMs: number
}

interface Circuit {
  inRow: number
  openUntil: number
}

/**
 * Keeps new calls from a server that does not answer. It says nothing about the calls that are under way: what became of
 * them is found out by evidence, and a circuit is none. Holds one entry per configured server.
 */
export class Breaker {
  readonly #limits: BreakerLimits
  readonly #now: () => number
  readonly #circuits = new Map<string, Circuit>()

  constructor(limits: BreakerLimits, now: () => number = Date.now) {
    this.#limits = limits
    this.#now = now
  }

  /** Asked before an intent is written. After the pause the first to ask is let through, and the others wait for it. */
  admit(server: string): Refusal | undefined {
    const circuit = this.#circuits.get(server)
    if (circuit === undefined || circuit.inRow < this.#limits.failures) return undefined
    const now = this.#now()
    if (now >= circuit.openUntil) {
      // Should that one never end, another may try after the same pause.
      circuit.openUntil = now + this.#limits.pauseMs
      return undefined
    }
    const again = new Date(circuit.openUntil).toISOString()
    return refuse('UPSTREAM_TRIPPED', { server, unanswered: circuit.inRow, again })
  }

  note(server: string, answered: boolean): void {
    if (answered) {
      this.#circuits.delete(server)
      return
    }
    const circuit = this.#circuits.get(server) ?? { inRow: 0, openUntil: 0 }
    this.#circuits.set(server, circuit)
    circuit.inRow++
    if (circuit.inRow >= this.#limits.failures) circuit.openUntil = this.#now() + this.#limits.pauseMs
  }
}
