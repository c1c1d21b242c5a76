/** Bytes that arrive in pieces, with a limit. Room is doubled, so that many small pieces cost no more than a few large ones. */
export class Growing {
  readonly #limit: number
  readonly #expected: number
  #room = Buffer.alloc(0)
  #length = 0

  /** `expected` is how much is likely to come; no more than a mebibyte is set aside on a mere expectation. */
  constructor(limit: number, expected = 0) {
    this.#limit = limit
    this.#expected = Math.min(Math.max(expected, 1024), 1024 * 1024)
  }

  get length(): number {
    return this.#length
  }

  /** False, and nothing is added, where the limit would be passed. */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length
    if (length > this.#limit) return false
    if (length > this.#room.length) {
      const room = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(length, this.#room.length * 2, this.#expected)))
      this.#room.copy(room, 0, 0, this.#length)
      this.#room = room
    }
    this.#room.set(piece, this.#length)
    this.#length = length
    return true
  }

  /** Hands over what came so far and starts anew. */
  take(): Buffer {
    const taken = this.#room.subarray(0, this.#length)
    this.clear()
    return taken
  }

  clear(): void {
    this.#room = Buffer.alloc(0)
    this.#length = 0
  }
}
