/** A map that forgets: what is older than its time, and what was put in first when there is no room. */
export class Bounded<Value> {
  readonly #most: number
  readonly #held = new Map<string, { readonly value: Value; readonly until: number }>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: string, now: number): Value | undefined {
    const found = this.#held.get(key)
    if (found === undefined || found.until > now) return found?.value
    this.#held.delete(key)
    return undefined
  }

  set(key: string, value: Value, until: number): void {
    this.#held.delete(key)
    this.#held.set(key, { value, until })
    if (this.#held.size <= this.#most) return
    const [oldest] = this.#held.keys()
    this.#held.delete(oldest!)
  }

  delete(key: string): void {
    this.#held.delete(key)
  }

  get size(): number {
    return this.#held.size
  }
}
