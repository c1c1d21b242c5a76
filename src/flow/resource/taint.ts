import type { Json, JsonObject } from '../../words/json.ts'
import { Recent } from './decision-cache.ts'

/**
 * What a call has to do with results that came from servers nobody vouches for. Words tell hardly half of all injections;
 * where a value comes from can be followed whatever the words are.
 */
export interface Taint {
  /** A URL, host or e-mail address among the arguments was read in such a result before. */
  readonly tainted: boolean
  /** The principal was given any such result within the last half hour. */
  readonly untrusted: boolean
  /** One of those read like orders to a model. */
  readonly suspect: boolean
  /** The values in question, without what could be a secret in them. At most eight. */
  readonly values: readonly string[]
}

export const clean: Taint = Object.freeze({ tainted: false, untrusted: false, suspect: false, values: [] })

export interface Owner {
  readonly tenant: string
  readonly id: string
}

/** The port: what results taught, and what of it stands in a call. */
export interface Taints {
  learn(owner: Owner, result: JsonObject, suspect: boolean): void
  of(owner: Owner, given: JsonObject): Taint
}

const WINDOW_MS = 30 * 60_000
const OWNERS = 4_096
const VALUES_OF_ONE = 4_096
/** Characters of one result, or of one call, that are read for values, and values that are taken from it. */
const READ = 256_000
const VALUES_OF_RESULT = 512
const SHOWN = 8
const DEPTH = 64

interface Memory {
  readonly values: Recent<string, true>
  untrustedAt: number
  suspectAt: number
}

/** In memory and bounded: after a restart nothing is known, which is why the window is short. */
export class TaintBook implements Taints {
  readonly #owners = new Recent<string, Memory>(OWNERS)
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  learn({ tenant, id }: Owner, result: JsonObject, suspect: boolean): void {
    const key = `${tenant}\n${id}`
    const memory = this.#owners.get(key) ?? {
      values: new Recent<string, true>(VALUES_OF_ONE),
      untrustedAt: -Infinity,
      suspectAt: -Infinity,
    }
    this.#owners.set(key, memory)
    memory.untrustedAt = this.#now()
    if (suspect) memory.suspectAt = memory.untrustedAt
    let taken = 0
    for (const value of valuesIn(result)) {
      memory.values.set(value, true)
      if (++taken >= VALUES_OF_RESULT) break
    }
  }

  of({ tenant, id }: Owner, given: JsonObject): Taint {
    const memory = this.#owners.get(`${tenant}\n${id}`)
    if (memory === undefined) return clean
    const since = this.#now() - WINDOW_MS
    const untrusted = memory.untrustedAt >= since
    const found = new Set<string>()
    if (memory.values.size > 0) {
      for (const value of valuesIn(given)) {
        if (memory.values.get(value) === true) found.add(value)
        if (found.size >= SHOWN) break
      }
    }
    if (!untrusted && found.size === 0) return clean
    return { tainted: found.size > 0, untrusted, suspect: memory.suspectAt >= since, values: [...found] }
  }
}

const URLS = /\bhttps?:\/\/[^\s"'<>`\\)\]}]{3,2000}/gi
const MAILS = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g

/**
 * `kind:value` of whatever can carry data out: a host says the most of a URL, so it counts by itself too. Paths are not
 * among them, since the resource gate measures them against the declared roots whoever named them.
 */
function* valuesIn(value: JsonObject): Generator<string> {
  let left = READ
  for (const text of textsIn(value, DEPTH)) {
    if (left <= 0) return
    const part = text.slice(0, left)
    left -= part.length
    if (part.includes('://')) {
      for (const [url] of part.matchAll(URLS)) {
        const parsed = URL.parse(url)
        if (parsed === null) continue
        yield `host:${parsed.host}`
        yield `url:${parsed.origin}${parsed.pathname}`
      }
    }
    if (part.includes('@')) for (const [mail] of part.matchAll(MAILS)) yield `mail:${mail.toLowerCase()}`
  }
}

function* textsIn(value: Json, depth: number): Generator<string> {
  if (typeof value === 'string') yield value
  else if (depth > 0 && typeof value === 'object' && value !== null) {
    for (const item of Array.isArray(value) ? (value as readonly Json[]) : Object.values(value as JsonObject)) {
      yield* textsIn(item, depth - 1)
    }
  }
}
