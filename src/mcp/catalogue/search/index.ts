import { type Bag, type SearchDocument, bagOf } from './document.ts'
import { Postings } from './postings.ts'
import { type Group, groupsOf } from './query.ts'

export interface Hit {
  readonly key: string
  readonly score: number
  /** Share of the weight of the request that this document answers, from 0 to 1. */
  readonly covered: number
}

export interface Found {
  readonly hits: readonly Hit[]
  /** What the request would score where every word of it were the name of a tool. */
  readonly possible: number
}

/** What is kept of a document besides its terms. */
type Kept = Omit<Bag, 'terms'>

/** Which documents a caller may know of, by slot; made by `mask`, valid for the version of the index it was made at. */
export interface Mask {
  readonly version: number
  readonly allowed: Uint8Array
  readonly size: number
}

export const tuning = { k1: 1.2, cover: 0.4, aim: 0.1 } as const

/** Documents that came and went leave holes; from this share on the index is made anew. */
const HOLES = 0.3

/**
 * Ranks tools for a request: BM25 over weighted fields, in memory. Documents can come and go at any time. The permission
 * mask is applied inside the loop that scores, counts of documents included, so that what a caller may not see neither
 * shows up nor moves what does.
 */
export class SearchIndex {
  #bags: (Kept | undefined)[] = []
  #slots = new Map<string, number>()
  #postings = new Map<string, Postings>()
  #live = new Uint8Array(64)
  #version = 0
  #scores = new Float32Array(0)
  #best = new Float32Array(0)
  #names = new Float32Array(0)
  #stamps = new Int32Array(0)
  #stamp = 0

  get size(): number {
    return this.#slots.size
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version
  }

  /** Where a document stands in masks of this version. */
  slot(key: string): number | undefined {
    return this.#slots.get(key)
  }

  /** Takes the place of a document with the same key. */
  add(document: SearchDocument): void {
    this.remove(document.key)
    this.#put(bagOf(document))
    this.#version++
  }

  remove(key: string): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) return
    this.#slots.delete(key)
    this.#bags[slot] = undefined
    this.#live[slot] = 0
    this.#version++
    const holes = this.#bags.length - this.#slots.size
    if (holes > 64 && holes > this.#bags.length * HOLES) this.#remake()
  }

  mask(allows: (key: string) => boolean): Mask {
    const allowed = new Uint8Array(this.#bags.length)
    let size = 0
    for (const [key, slot] of this.#slots) {
      if (!allows(key)) continue
      allowed[slot] = 1
      size++
    }
    return { version: this.#version, allowed, size }
  }

  /** Best first; equal scores by key, so that the same question has the same answer. Throws RangeError for an old mask. */
  search(request: string, limit: number, mask?: Mask): Found {
    if (mask !== undefined && mask.version !== this.#version) throw new RangeError('the index changed since the mask')
    const total = mask?.size ?? this.size
    const { groups, action } = groupsOf(request, (term) => this.#postings.has(term))
    if (total === 0 || groups.length === 0) return { hits: [], possible: 0 }
    this.#makeRoom()
    // With neither mask nor holes every posting counts, and none has to be looked at for it.
    const allowed = mask?.allowed ?? (this.#slots.size === this.#bags.length ? undefined : this.#live)
    const touched: number[] = []
    let possible = 0
    for (const group of groups) possible += this.#scoreGroup(group, total, allowed, touched)
    const hits = this.#take(touched, limit, possible, action)
    for (const slot of touched) {
      this.#scores[slot] = 0
      this.#names[slot] = 0
    }
    return { hits, possible }
  }

  /** A word and what stands for it count once, by the best of them in each document. */
  #scoreGroup(group: Group, total: number, allowed: Uint8Array | undefined, touched: number[]): number {
    const [scores, best, names, stamps] = [this.#scores, this.#best, this.#names, this.#stamps]
    const stamp = ++this.#stamp
    const found: { readonly postings: Postings; readonly idf: number; readonly weight: number }[] = []
    for (const { term, weight } of group.members) {
      const postings = this.#postings.get(term)
      if (postings === undefined) continue
      const count = this.#count(postings, allowed)
      if (count > 0) found.push({ postings, idf: idf(total, count), weight })
    }
    const term = group.members[0]!.term
    const own = this.#postings.get(term)
    const ownCount = own === undefined ? 0 : this.#count(own, allowed)
    const ownIdf = ownCount === 0 ? undefined : idf(total, ownCount)
    for (const { postings, idf: rarity, weight } of found) {
      const { slots, impacts, size } = postings
      const factor = Math.min(rarity, ownIdf ?? rarity) * weight * group.weight
      for (let n = 0; n < size; n++) {
        const slot = slots[n]! >>> 1
        if (allowed !== undefined && allowed[slot] === 0) continue
        const score = factor * impacts[n]!
        if (stamps[slot] !== stamp) {
          stamps[slot] = stamp
          best[slot] = 0
          if (scores[slot] === 0) touched.push(slot)
          if ((slots[n]! & 1) === 1) names[slot]! += weight
        }
        if (score > best[slot]!) {
          scores[slot]! += score - best[slot]!
          best[slot] = score
        }
      }
    }
    // What a phrase stands for may be missing; a word that is missing is a word that nothing answers.
    if (found.length === 0) return term.includes(' ') ? 0 : idf(total, 1) * group.weight
    const rarest = ownIdf ?? Math.max(0, ...found.map((one) => one.idf * one.weight))
    return rarest * group.weight
  }

  #count({ slots, size }: Postings, allowed: Uint8Array | undefined): number {
    if (allowed === undefined) return size
    let count = 0
    for (let n = 0; n < size; n++) count += allowed[slots[n]! >>> 1]!
    return count
  }

  #take(touched: readonly number[], limit: number, possible: number, action: number): Hit[] {
    const hits: Hit[] = []
    let floor = -1
    for (const slot of touched) {
      const bag = this.#bags[slot]!
      const base = this.#scores[slot]!
      const named = 1 + tuning.cover * Math.min(1, this.#names[slot]! / bag.nameLength)
      const score = base * named * aimed(action, bag.action)
      if (hits.length === limit && score < floor) continue
      const hit = { key: bag.key, score, covered: possible === 0 ? 0 : Math.min(1, base / possible) }
      let at = hits.length
      while (at > 0 && precedes(hit, hits[at - 1]!)) at--
      hits.splice(at, 0, hit)
      if (hits.length > limit) hits.pop()
      if (hits.length === limit) floor = hits.at(-1)!.score
    }
    return hits
  }

  #put({ terms, ...kept }: Bag): void {
    const slot = this.#place(kept)
    for (const [term, { frequency, named }] of terms) {
      let postings = this.#postings.get(term)
      if (postings === undefined) this.#postings.set(term, (postings = new Postings()))
      postings.push((slot << 1) | (named ? 1 : 0), frequency / (tuning.k1 + frequency))
    }
  }

  #place(kept: Kept): number {
    const slot = this.#bags.length
    this.#bags.push(kept)
    this.#slots.set(kept.key, slot)
    if (slot >= this.#live.length) this.#live = lengthened(this.#live)
    this.#live[slot] = 1
    return slot
  }

  /** Closes the holes: what is left keeps its order, so that no ranking changes by it. */
  #remake(): void {
    const moved = new Int32Array(this.#bags.length).fill(-1)
    const before = this.#bags
    this.#bags = []
    this.#live = new Uint8Array(64)
    this.#slots = new Map()
    for (const [slot, kept] of before.entries()) if (kept !== undefined) moved[slot] = this.#place(kept)
    for (const [term, postings] of this.#postings) {
      const closed = postings.moved(moved)
      if (closed.size === 0) this.#postings.delete(term)
      else this.#postings.set(term, closed)
    }
  }

  #makeRoom(): void {
    const size = this.#bags.length
    if (this.#scores.length >= size) return
    this.#scores = new Float32Array(size)
    this.#best = new Float32Array(size)
    this.#names = new Float32Array(size)
    this.#stamps = new Int32Array(size)
    this.#stamp = 0
  }
}

/** A tool whose name says that it does something else than what is asked for is not what is looked for. */
function aimed(asked: number, does: number): number {
  if (asked === 0 || does === 0) return 1
  return (asked & does) === 0 ? 1 - tuning.aim : 1 + tuning.aim
}

function lengthened(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(bytes.length * 2)
  longer.set(bytes)
  return longer
}

function idf(total: number, count: number): number {
  return Math.log(1 + (total - count + 0.5) / (count + 0.5))
}

function precedes(one: Hit, other: Hit): boolean {
  return one.score > other.score || (one.score === other.score && one.key < other.key)
}
