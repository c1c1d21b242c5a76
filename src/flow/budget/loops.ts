import { hash } from 'node:crypto'
import { refuse, type Refusal } from '../../words/verdict.ts'
import type { Applying } from './accounts.ts'

interface Repeated {
  window: number
  times: number
  /** Digest of what it brought the last time. */
  result: string
}

interface Judged {
  readonly settled: (result: Uint8Array | undefined) => void
}

const MOST = 10_000
const nothing: Judged = Object.freeze({ settled: () => {} })

/**
 * Calls that go round in circles: the very same call, again and again, with the very same result. Another result is
 * progress, and the count begins anew; so it does with each window. Kept in memory: a restart forgives.
 */
export class Loops {
  readonly #repeated = new Map<string, Repeated>()

  judge(applying: readonly Applying[], call: string, now: number): Judged | Refusal {
    const limits = applying.filter(({ budget }) => budget.sameCall !== undefined)
    if (limits.length === 0) return nothing
    const counted: Repeated[] = []
    for (const { budget } of limits) {
      const key = `${budget.name}\n${call}`
      const window = Math.floor(now / budget.windowMs)
      const found = this.#repeated.get(key)
      const repeated = found?.window === window ? found : { window, times: 0, result: '' }
      if (repeated.times >= budget.sameCall!) {
        const again = new Date((window + 1) * budget.windowMs).toISOString()
        return refuse('LOOP_DETECTED', { budget: budget.name, times: repeated.times, again })
      }
      if (found === undefined && this.#repeated.size >= MOST) this.#repeated.delete(this.#repeated.keys().next().value!)
      this.#repeated.set(key, repeated)
      counted.push(repeated)
    }
    return {
      settled: (result) => {
        const digest = result === undefined ? '' : hash('sha256', result, 'hex')
        for (const repeated of counted) {
          repeated.times = repeated.result === digest || repeated.times === 0 ? repeated.times + 1 : 1
          repeated.result = digest
        }
      },
    }
  }
}
