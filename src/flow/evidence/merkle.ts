import { hash } from 'node:crypto'

// One byte of 1 and the two hashes (RFC 6962 §2.1); one buffer for all, since hashing is done when it returns.
const node = Buffer.alloc(65)
node[0] = 1

function nodeOf(left: string, right: string): string {
  node.write(left, 1, 'hex')
  node.write(right, 33, 'hex')
  return hash('sha256', node, 'hex')
}

/**
 * The right edge of an RFC 6962 tree: enough to append and to give the root, in O(log n) memory.
 * `peaks[k]` is the root of a full subtree of 2^k leaves, or undefined.
 */
export class Frontier {
  #peaks: (string | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  append(leaf: string): void {
    let carried = leaf
    let level = 0
    for (; this.#peaks[level] !== undefined; level++) {
      carried = nodeOf(this.#peaks[level]!, carried)
      this.#peaks[level] = undefined
    }
    this.#peaks[level] = carried
    this.#size++
  }

  /** Root hash in hex; of the empty tree it is the hash of nothing. */
  root(): string {
    let root: string | undefined
    for (const peak of this.#peaks) {
      if (peak === undefined) continue
      root = root === undefined ? peak : nodeOf(peak, root)
    }
    return root ?? hash('sha256', '', 'hex')
  }

  copy(): Frontier {
    const copy = new Frontier()
    copy.#peaks = [...this.#peaks]
    copy.#size = this.#size
    return copy
  }
}

/** Every leaf of a ledger, for proofs: 64 bytes of memory for each record. */
export class WholeTree {
  /** `#levels[k]` holds the roots of the full subtrees of 2^k leaves, 32 bytes each. */
  readonly #levels: Buffer[]
  readonly size: number

  constructor(leaves: readonly string[]) {
    this.size = leaves.length
    this.#levels = [Buffer.from(leaves.join(''), 'hex')]
    for (let below = this.#levels[0]!; below.length >= 64; below = this.#levels.at(-1)!) {
      const level = Buffer.alloc(Math.floor(below.length / 64) * 32)
      for (let n = 0; n < level.length; n += 32) {
        below.copy(node, 1, n * 2, n * 2 + 64)
        level.write(hash('sha256', node, 'hex'), n, 'hex')
      }
      this.#levels.push(level)
    }
  }

  /** Inclusion proof of RFC 9162 §2.1.3.1: the siblings from the leaf up. */
  inclusion(seq: number, size: number = this.size): readonly string[] {
    return this.#path(seq, 0, size)
  }

  /** Consistency proof of RFC 9162 §2.1.4.1: that the first `from` of `size` leaves are the tree of `from`. */
  consistency(from: number, size: number = this.size): readonly string[] {
    return from === 0 || from >= size ? [] : this.#subproof(from, 0, size, true)
  }

  #path(seq: number, from: number, to: number): readonly string[] {
    if (to - from <= 1) return []
    const middle = from + largestPowerBelow(to - from)
    return seq < middle
      ? [...this.#path(seq, from, middle), this.#root(middle, to)]
      : [...this.#path(seq, middle, to), this.#root(from, middle)]
  }

  #subproof(older: number, from: number, to: number, whole: boolean): readonly string[] {
    if (older === to) return whole ? [] : [this.#root(from, to)]
    const middle = from + largestPowerBelow(to - from)
    return older <= middle
      ? [...this.#subproof(older, from, middle, whole), this.#root(middle, to)]
      : [...this.#subproof(older, middle, to, false), this.#root(from, middle)]
  }

  #root(from: number, to: number): string {
    const level = Math.log2(to - from)
    if (Number.isInteger(level)) {
      const at = (from / (to - from)) * 32
      return this.#levels[level]!.toString('hex', at, at + 32)
    }
    const middle = from + largestPowerBelow(to - from)
    return nodeOf(this.#root(from, middle), this.#root(middle, to))
  }
}

/** The largest power of two that is smaller than the number of leaves. */
function largestPowerBelow(leaves: number): number {
  return 2 ** (Math.ceil(Math.log2(leaves)) - 1)
}
