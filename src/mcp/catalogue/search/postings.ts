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

  /** The same in other slots, without what has none any more. The lowest bit is not part of the slot. */
  moved(to: Int32Array): Postings {
    const made = new Postings()
    for (let n = 0; n < this.#size; n++) {
      const slot = to[this.#slots[n]! >>> 1]!
      if (slot >= 0) made.push((slot << 1) | (this.#slots[n]! & 1), this.#impacts[n]!)
    }
    return made
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
