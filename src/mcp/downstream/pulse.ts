/** Something that has to look at the clock now and then. */
export interface Beating {
  /** @param now Milliseconds since 1970. */
  beat(now: number): void
}

/** One timer for all that wait. A timer for each call would cost more than most calls need. */
export class Pulse {
  readonly #everyMs: number
  readonly #beating = new Set<Beating>()
  #timer: NodeJS.Timeout | undefined

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  add(beating: Beating): void {
    this.#beating.add(beating)
    this.#timer ??= setInterval(() => this.#beat(), this.#everyMs).unref()
  }

  delete(beating: Beating): void {
    this.#beating.delete(beating)
  }

  stop(): void {
    this.#beating.clear()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  // It stops by itself when nobody has been waiting for a whole beat, and not with each call that ends.
  #beat(): void {
    if (this.#beating.size === 0) return this.stop()
    const now = Date.now()
    for (const beating of this.#beating) beating.beat(now)
  }
}
