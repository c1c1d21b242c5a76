import { setTimeout as pause } from 'node:timers/promises'
import type { OperationRow } from '../flow/side-effect/ledger.ts'
import type { OperationState } from '../flow/side-effect/operation.ts'

/** What may change by itself: an answer that comes, a look that finds something. */
const open: ReadonlySet<OperationState> = new Set([
  'proposed',
  'authorised',
  'dispatched',
  'working',
  'input_required',
  'unknown',
  'held',
  'compensating',
])

const LOOK_EVERY_MS = 100
const PER_OPERATION = 64
const ALTOGETHER = 1024

/** Callers that wait for the end of an operation. The row is looked at again and again: it is the one thing that is true. */
export class OperationWaits {
  readonly #find: (operation: string) => OperationRow | undefined
  readonly #due: (operation: string) => boolean
  readonly #waiting = new Map<string, number>()
  #all = 0

  /** `due`: its answer is still to be judged, so that its state alone is not yet the end. */
  constructor(find: (operation: string) => OperationRow | undefined, due: (operation: string) => boolean) {
    this.#find = find
    this.#due = due
  }

  /** Resolves with the row when it is at rest, when `ms` have passed, when the signal aborts, or at once where too many wait. */
  async settled(operation: string, ms: number, signal: AbortSignal): Promise<OperationRow | undefined> {
    const waiting = this.#waiting.get(operation) ?? 0
    const until = performance.now() + (waiting >= PER_OPERATION || this.#all >= ALTOGETHER ? 0 : ms)
    this.#waiting.set(operation, waiting + 1)
    this.#all++
    try {
      for (;;) {
        const row = this.#find(operation)
        const left = until - performance.now()
        const over = row === undefined || (!open.has(row.state) && !this.#due(operation))
        if (over || left <= 0 || signal.aborted) return row
        await pause(Math.min(LOOK_EVERY_MS, left), undefined, { signal }).catch(() => {})
      }
    } finally {
      this.#all--
      const others = (this.#waiting.get(operation) ?? 1) - 1
      if (others === 0) this.#waiting.delete(operation)
      else this.#waiting.set(operation, others)
    }
  }
}
