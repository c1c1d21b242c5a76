/** What was used last, up to a number of things; `dropped` hears of those that have to go. */
export class Recent<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #limit: number
  readonly #dropped: (value: Value) => void
  #newest: Key | undefined

  constructor(limit: number, dropped: (value: Value) => void = () => {}) {
    this.#limit = limit
    this.#dropped = dropped
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && key !== this.#newest) this.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    this.#newest = key
    if (this.#entries.size <= this.#limit) return
    // A Map keeps the order of insertion: its first entry is the one that was used longest ago.
    const [oldest, gone] = this.#entries.entries().next().value!
    this.#entries.delete(oldest)
    this.#dropped(gone)
  }
}
