import { RE2JS } from 're2js'
import type { JsonObject } from '../../words/json.ts'
import { NONE, STOP, visitAnchors } from './anchors.ts'
import { replaceTexts } from './json-text.ts'
import type { Piece } from './pieces.ts'
import { type SecretRule, secretRules } from './secret-rules.ts'
import { visitTexts } from './texts.ts'

export interface MaskedRule {
  readonly rule: string
  readonly count: number
}

/** A result after the search. `bytes` and `value` are the very objects that came in where `masked` is empty. */
export interface Masked {
  readonly bytes: Uint8Array
  readonly value: JsonObject
  readonly masked: readonly MaskedRule[]
}

/**
 * How many places of one result are tried with a pattern, at about two microseconds each. A result beyond that was made to
 * be slow: whatever still begins like a secret is then masked unread.
 */
const TRIES = 20_000
const UNREAD = 'unread'

/** Replaces what looks like a secret in any text of a result, however its JSON is written, by `[masked: rule]`. */
export function maskSecrets(bytes: Uint8Array, value: JsonObject, pieces: readonly Piece[]): Masked {
  if (!pieces.some(mayHold)) return { bytes, value, masked: [] }
  const search = new Search()
  const changes = new Map<string, string>()
  visitTexts(value, (text, key) => {
    if (changes.has(text)) return
    const masked = search.mask(text, key)
    if (masked !== text) changes.set(text, masked)
  })
  if (changes.size === 0) return { bytes, value, masked: [] }
  const replaced = replaceTexts(bytes, changes)
  if (replaced === bytes) throw new TypeError('the bytes of a result are not the text of its value')
  const changed = JSON.parse(Buffer.from(replaced.buffer, replaced.byteOffset, replaced.byteLength).toString('utf8'))
  return { bytes: replaced, value: changed as JsonObject, masked: search.counts() }
}

/** One text by itself: an error message, say. */
export function maskText(text: string): { readonly text: string; readonly masked: readonly MaskedRule[] } {
  const search = new Search()
  return { text: search.mask(text, ''), masked: search.counts() }
}

function mayHold({ bytes, text }: Piece): boolean {
  let found = false
  visitAnchors(bytes, text, () => {
    found = true
    return STOP
  })
  return found
}

interface Found {
  readonly rule: string
  readonly from: number
  readonly to: number
}

class Search {
  readonly #counts = new Map<string, number>()
  #tries = 0

  counts(): readonly MaskedRule[] {
    return [...this.#counts].map(([rule, count]) => ({ rule, count }))
  }

  mask(text: string, key: string): string {
    let masked = this.#pass(text)
    if (masked === text) return this.#assigned(text, key)
    // Where one secret stood right before another, only the mask of the first lets the second be seen.
    for (let before = text, n = 1; masked !== before && n < ROUNDS && this.#tries <= TRIES; n++) {
      before = masked
      masked = this.#pass(before)
    }
    return masked
  }

  #pass(text: string): string {
    if (text.length < SHORTEST) return text
    const found: Found[] = []
    visitAnchors(oneByteEach(text), text, (rule, at) => {
      const secret = this.#try(rule, text, at)
      if (secret === undefined) return NONE
      found.push(secret)
      return secret.to
    })
    return found.length === 0 ? text : this.#replace(text, found)
  }

  #replace(text: string, found: Found[]): string {
    found.sort((one, other) => one.from - other.from || other.to - one.to)
    let out = ''
    let kept = 0
    for (let n = 0; n < found.length;) {
      const { rule, from } = found[n]!
      let { to } = found[n]!
      // Secrets that overlap are masked together: neither may leave its end behind.
      for (n++; n < found.length && found[n]!.from < to; n++) to = Math.max(to, found[n]!.to)
      out += `${text.slice(kept, from)}[masked: ${rule}]`
      kept = to
      this.#count(rule)
    }
    return out + text.slice(kept)
  }

  /** A member of an object is an assignment too, though its key is no part of the text. */
  #assigned(text: string, key: string): string {
    if (text.length > ASSIGNED.reach || !SECRET_KEY.test(key)) return text
    const stated = `${key}:${text}`
    const secret = this.#try(ASSIGNED, stated, 0)
    if (secret === undefined || secret.to !== stated.length) return text
    this.#count(secret.rule)
    return `[masked: ${secret.rule}]`
  }

  #count(rule: string): void {
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1)
  }

  #try(rule: SecretRule, text: string, at: number): Found | undefined {
    const window = text.slice(at, at + rule.reach)
    if (++this.#tries > TRIES) return { rule: UNREAD, from: at, to: at + UP_TO_SPACE.exec(window)![0].length }
    const compiled = compiledOf(rule)
    if (compiled.after !== undefined && !compiled.after.matcher(text.slice(Math.max(0, at - 16), at)).find())
      return undefined
    const matcher = compiled.pattern.matcher(window)
    if (!matcher.lookingAt()) return undefined
    const group = matcher.groupCount() > 0 && matcher.start(1) >= 0 ? 1 : 0
    const [from, to] = [matcher.start(group), matcher.end(group)]
    const secret = window.slice(from, to)
    if (rule.random === true && !looksRandom(secret)) return undefined
    if (compiled.unless?.matcher(secret).find() === true) return undefined
    if (compiled.unlessNamed?.matcher(window.slice(0, to)).find() === true) return undefined
    return { rule: rule.id, from: at + from, to: at + to }
  }
}

const SHORTEST = 12
const ROUNDS = 4
const ASSIGNED = secretRules.find(({ anchor }) => anchor.at === 'assignment')!
const SECRET_KEY = /(?:key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?)$/i
const UP_TO_SPACE = /^[^\s"'<>]*/

interface Compiled {
  readonly pattern: RE2JS
  readonly after: RE2JS | undefined
  readonly unless: RE2JS | undefined
  readonly unlessNamed: RE2JS | undefined
}

const compiled = new Map<SecretRule, Compiled>()

function compiledOf(rule: SecretRule): Compiled {
  let made = compiled.get(rule)
  if (made === undefined) {
    const { pattern, after, unless, unlessNamed } = rule
    made = {
      pattern: RE2JS.compile(pattern),
      after: after === undefined ? undefined : RE2JS.compile(`${after}$`),
      unless: unless === undefined ? undefined : RE2JS.compile(unless),
      unlessNamed: unlessNamed === undefined ? undefined : RE2JS.compile(unlessNamed),
    }
    compiled.set(rule, made)
  }
  return made
}

// Words and numbers joined by signs: an identifier, a path, a stand-in such as `your-api-key-2`.
const WORDS = /^[-_/+.~]*(?:[A-Za-z]+|[0-9]+)(?:[-_/+.~]+(?:[A-Za-z]+|[0-9]+))*[0-9]{0,2}[-_/+.~=]*$/

/** Whether a text could have been drawn at random: letters and digits mixed, and many different ones. */
function looksRandom(text: string): boolean {
  if (!/[0-9]/.test(text) || !/[A-Za-z]/.test(text) || WORDS.test(text)) return false
  return entropy(text) >= (/^[0-9a-f-]+$/i.test(text) ? 3 : 3.5)
}

/** Bits a character, by how often each one stands in the text itself. */
function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** A byte for each UTF-16 unit, so that places are the same; a unit that has no byte becomes 0, which ends a word. */
function oneByteEach(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'latin1')
  if (/[^\u0000-\u00ff]/.test(text)) {
    for (let n = 0; n < bytes.length; n++) if (text.charCodeAt(n) > 0xff) bytes[n] = 0
  }
  return bytes
}
