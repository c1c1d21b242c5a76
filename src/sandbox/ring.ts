/** The last bytes of a stream that has to be drained and that nobody may need. */
export class Ring {
  readonly #limit: number
  #chunks: Buffer[] = []
  #length = 0
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length
    // A copy, since a few kept bytes would keep the whole buffer that they were read into.
    this.#chunks.push(Buffer.from(chunk.subarray(-this.#limit)))
    this.#length += Math.min(chunk.length, this.#limit)
    if (this.#length > this.#limit * 2 || this.#chunks.length > 256) this.#trim()
  }

  /** All bytes that ever came. */
  get total(): number {
    return this.#total
  }

  text(): string {
    this.#trim()
    return this.#chunks[0]?.toString('utf8') ?? ''
  }

  #trim(): void {
    const kept = Buffer.concat(this.#chunks).subarray(-this.#limit)
    this.#chunks = kept.length === 0 ? [] : [Buffer.from(kept)]
    this.#length = kept.length
  }
}
