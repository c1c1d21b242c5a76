/** The decisions that were used last, up to a number of them; longer keys than `keyLimit` are not kept. */
export class DecisionCache<Decision> {
  readonly #decisions = new Map<string, Decision>()
  readonly #limit: number
  readonly #keyLimit: number
  #newest: string | undefined

  constructor(limit: number, keyLimit: number) {
    this.#limit = limit
    this.#keyLimit = keyLimit
  }

  get size(): number {
    return this.#decisions.size
  }

  get(key: string): Decision | undefined {
    const decision = this.#decisions.get(key)
    if (decision !== undefined && key !== this.#newest) {
      this.#decisions.delete(key)
      this.#decisions.set(key, decision)
      this.#newest = key
    }
    return decision
  }

  set(key: string, decision: Decision): void {
    if (key.length > this.#keyLimit) return
    this.#decisions.delete(key)
    // A Map keeps the order of insertion: its first key is the one that was used longest ago.
    if (this.#decisions.size >= this.#limit) this.#decisions.delete(this.#decisions.keys().next().value!)
    this.#decisions.set(key, decision)
    this.#newest = key
  }
}
