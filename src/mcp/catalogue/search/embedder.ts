import { createHash } from 'node:crypto'
import type { SearchDocument } from './document.ts'

/** Turns texts into vectors of meaning. There is none by default; where there is one it only adds to what words say. */
export interface Embedder {
  /** Names the model; vectors of two models are never compared. */
  readonly id: string
  /** One vector for each text, in order. Rejects where the model cannot be had. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>
}

/** Share of the words in the joint score: measured with weak models, which a larger share of their own would let do harm. */
const WORDS = 0.7
/** A request that is not understood within this time is answered by its words alone. */
const PATIENCE_MS = 300
const BATCH = 32
const BATCH_MS = 60_000
/** Vectors that are kept for texts which are not indexed now. */
const KEPT = 50_000

/** What the tools of an index mean, learnt in the background, and each text only once. */
export class Meanings {
  readonly #embedder: Embedder
  readonly #vectors = new Map<string, Float32Array>()
  readonly #texts = new Map<string, { readonly hash: string; readonly text: string }>()
  #learning: Promise<void> | undefined

  constructor(embedder: Embedder) {
    this.#embedder = embedder
  }

  learn({ key, name, title = '', description }: SearchDocument): void {
    const text = `${title === '' ? '' : `${title}, `}${name.replace(/[_-]+/g, ' ')}: ${description.slice(0, 600)}`
    this.#texts.set(key, { hash: hashOf(this.#embedder.id, text), text })
    this.#learning ??= this.#learnAll().finally(() => (this.#learning = undefined))
  }

  forget(gone: (key: string) => boolean): void {
    for (const key of this.#texts.keys()) if (gone(key)) this.#texts.delete(key)
  }

  /** Resolves when everything is learnt, or could not be. */
  async learnt(): Promise<void> {
    await this.#learning
  }

  /** The hits by words and meaning together; undefined where the request's meaning cannot be had in time. */
  async fused(
    request: string,
    hits: readonly { readonly key: string; readonly score: number }[],
    signal: AbortSignal,
  ): Promise<readonly { readonly key: string; readonly score: number }[] | undefined> {
    const asked = await this.#request(request, signal)
    const best = hits[0]?.score ?? 0
    if (asked === undefined || best === 0) return undefined
    return hits
      .map(({ key, score }) => {
        const known = this.#vectors.get(this.#texts.get(key)?.hash ?? '')
        const near = known === undefined ? 0 : Math.max(0, cosine(asked, known))
        return { key, score: best * (WORDS * (score / best) + (1 - WORDS) * near) }
      })
      .toSorted((one, other) => other.score - one.score || (one.key < other.key ? -1 : 1))
  }

  async #request(request: string, signal: AbortSignal): Promise<Float32Array | undefined> {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
    const late = new Promise<undefined>((resolve) => {
      soon.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    try {
      return await Promise.race([this.#embedder.embed([request.slice(0, 2_000)], soon).then(([one]) => one), late])
    } catch {
      return undefined
    }
  }

  async #learnAll(): Promise<void> {
    await Promise.resolve()
    for (;;) {
      const missing = [...this.#texts.values()].filter(({ hash }) => !this.#vectors.has(hash)).slice(0, BATCH)
      if (missing.length === 0) return
      try {
        const made = await this.#embedder.embed(
          missing.map(({ text }) => text),
          AbortSignal.timeout(BATCH_MS),
        )
        if (made.length !== missing.length) return
        for (const [n, { hash }] of missing.entries()) this.#keep(hash, made[n]!)
      } catch {
        // Words alone answer until the next tool is learnt.
        return
      }
    }
  }

  #keep(hash: string, vector: Float32Array): void {
    if (this.#vectors.size >= KEPT) this.#vectors.delete(this.#vectors.keys().next().value!)
    this.#vectors.set(hash, vector)
  }
}

function hashOf(model: string, text: string): string {
  return createHash('sha256').update(`${model}\u0000${text}`).digest('base64url')
}

function cosine(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return 0
  let [dot, ones, others] = [0, 0, 0]
  for (let n = 0; n < one.length; n++) {
    dot += one[n]! * other[n]!
    ones += one[n]! * one[n]!
    others += other[n]! * other[n]!
  }
  return ones === 0 || others === 0 ? 0 : dot / Math.sqrt(ones * others)
}
