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
