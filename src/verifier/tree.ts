import { hash } from 'node:crypto'

// RFC 6962 §2.1: a leaf is the hash of a zero byte and the record, a node that of a byte of one and its two children.

export function leafHash(line: string): string {
  return hash('sha256', `\0${line}`, 'hex')
}

function nodeHash(left: string, right: string): string {
  return hash('sha256', Buffer.from(`01${left}${right}`, 'hex'), 'hex')
}

/** Takes leaves one after another, and has the root of those it was given. */
export class Tree {
  /** Roots of full subtrees, the largest first, with their numbers of leaves. */
  #full: { readonly root: string; readonly leaves: number }[] = []
  size = 0

  add(leaf: string): void {
    let tree = { root: leaf, leaves: 1 }
    for (let last = this.#full.at(-1); last?.leaves === tree.leaves; last = this.#full.at(-1)) {
      this.#full.pop()
      tree = { root: nodeHash(last.root, tree.root), leaves: tree.leaves * 2 }
    }
    this.#full.push(tree)
    this.size++
  }

  root(): string {
    const roots = this.#full.map(({ root }) => root)
    return roots.length === 0 ? hash('sha256', '', 'hex') : roots.reduceRight((right, left) => nodeHash(left, right))
  }
}

/** The root that a leaf and its inclusion proof come to (RFC 9162 §2.1.3.2); undefined where the proof does not fit in form. */
export function rootFromInclusion(
  leaf: string,
  seq: number,
  size: number,
  path: readonly string[],
): string | undefined {
  if (seq >= size) return undefined
  let at = seq
  let last = size - 1
  let root = leaf
  for (const sibling of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      root = nodeHash(sibling, root)
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2)
        last = Math.floor(last / 2)
      }
    } else root = nodeHash(root, sibling)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}

/** Is the tree of `from` leaves the beginning of the one of `to`? (RFC 9162 §2.1.4.2) */
export function isConsistent(
  from: { readonly size: number; readonly root: string },
  to: { readonly size: number; readonly root: string },
  path: readonly string[],
): boolean {
  if (from.size > to.size) return false
  if (from.size === to.size) return path.length === 0 && from.root === to.root
  if (from.size === 0) return path.length === 0
  const wholePower = Number.isInteger(Math.log2(from.size))
  const [first, ...rest] = wholePower ? [from.root, ...path] : path
  if (first === undefined) return false
  let at = from.size - 1
  let last = to.size - 1
  while (at % 2 === 1) {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  let older = first
  let newer = first
  for (const node of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      older = nodeHash(node, older)
      newer = nodeHash(node, newer)
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2)
        last = Math.floor(last / 2)
      }
    } else newer = nodeHash(newer, node)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && older === from.root && newer === to.root
}
