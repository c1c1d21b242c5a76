export interface PauseRange {
  readonly firstMs: number
  readonly mostMs: number
}

const reconnectPauses: PauseRange = { firstMs: 250, mostMs: 30_000 }

/** What lasted this long was not a failure of the start. */
const STEADY_MS = 10_000

/** Growing pauses between attempts; each is drawn from the upper half of its length, so that many that fail together do not come back together. */
export class Pauses {
  readonly #range: PauseRange
  #failures = 0

  constructor(range: PauseRange = reconnectPauses) {
    this.#range = range
  }

  /** Length of the next pause, in milliseconds, after something lasted for so long. */
  after(lastedMs: number): number {
    if (lastedMs >= STEADY_MS) this.#failures = 0
    const whole = Math.min(this.#range.mostMs, this.#range.firstMs * 2 ** this.#failures)
    this.#failures = Math.min(this.#failures + 1, 30)
    return whole / 2 + (Math.random() * whole) / 2
  }
}
