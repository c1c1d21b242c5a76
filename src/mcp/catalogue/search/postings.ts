/** Where one term occurs: slots of documents in growing order, and how much it says of each. */
export class Postings {
  #slots = new Int32Array(4)
  #impacts = new Float32Array(4)
  #size = 0

  get size(): number {
    return this.#size
  }

  get slots(): Int32Array {
    return this.#slots
  }

  get impacts(): Float32Array {
    return this.#impacts
  }

  /** `slot` is larger than every one before it. */
  push(slot: number, impact: number): void {
    if (this.#size === this.#slots.length) {
      // By half and not twofold: most terms are rare, and the memory is what is counted.
      const longer = this.#size + Math.max(4, this.#size >> 1)
      this.#slots = grown(this.#slots, new Int32Array(longer))
      this.#impacts = grown(this.#impacts, new Float32Array(longer))
    }
    this.#slots[this.#size] = slot
    this.#impacts[this.#size] = impact
    this.#size++
  }
}

function grown<Numbers extends Int32Array | Float32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from)
  return to
}
