import type { Unparsed } from './strict-json.ts'

export interface ScanStop {
  readonly code: Unparsed
  readonly at: number
  readonly detail: string
}

// What may come next. The scan needs no recursion: the open objects and arrays lie in a list of its own.
const VALUE = 0
const VALUE_OR_END = 1
const KEY = 2
const KEY_OR_END = 3
const COLON = 4
const COMMA_OR_END = 5
const NOTHING = 6

// Beyond this many keys a Set is cheaper than comparing with each.
const FEW_KEYS = 10
// Beyond this many characters a native search is cheaper than looking at each.
const LONG_STRING = 40

/**
 * One pass over well-formed UTF-16 text: the grammar of RFC 8259, depth, repeated keys, numbers, escaped lone surrogates.
 * With `noEscapes` the text is known to hold no backslash, and the inside of long strings is left to `JSON.parse`.
 */
export function scanJson(text: string, depth: number, noEscapes: boolean): ScanStop | undefined {
  /** The keys so far of each open object; undefined for an open array. */
  const open: (Keys | undefined)[] = []
  let keys: Keys | undefined
  let next = VALUE
  const length = text.length

  for (let n = 0; n < length; n++) {
    const unit = text.charCodeAt(n)
    switch (unit) {
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        continue

      case 0x22: {
        const from = n + 1
        n = endOfString(text, from, noEscapes)
        if (n < 0) return inString(text, from)
        if (next <= VALUE_OR_END) next = open.length === 0 ? NOTHING : COMMA_OR_END
        else if (next <= KEY_OR_END) {
          let key = text.slice(from, n)
          if (!noEscapes && key.includes('\\')) key = JSON.parse(`"${key}"`) as string
          if (!keys!.add(key))
            return { code: 'DUPLICATE_KEY', at: from - 1, detail: 'a key that the object has already' }
          next = COLON
        } else return unexpected(from - 1)
        continue
      }

      case 0x3a:
        if (next !== COLON) return unexpected(n)
        next = VALUE
        continue

      case 0x2c:
        if (next !== COMMA_OR_END) return unexpected(n)
        next = keys === undefined ? VALUE : KEY
        continue

      case 0x7b:
      case 0x5b:
        if (next > VALUE_OR_END) return unexpected(n)
        if (open.length >= depth) return { code: 'TOO_DEEP', at: n, detail: `nested deeper than ${depth}` }
        keys = unit === 0x7b ? new Keys() : undefined
        open.push(keys)
        next = unit === 0x7b ? KEY_OR_END : VALUE_OR_END
        continue

      case 0x7d:
      case 0x5d: {
        const wanted = unit === 0x7d ? KEY_OR_END : VALUE_OR_END
        if (open.length === 0 || (keys !== undefined) !== (unit === 0x7d)) return unexpected(n)
        if (next !== COMMA_OR_END && next !== wanted) return unexpected(n)
        open.pop()
        keys = open.at(-1)
        next = open.length === 0 ? NOTHING : COMMA_OR_END
        continue
      }

      default: {
        if (next > VALUE_OR_END) return unexpected(n)
        const end = unit === 0x2d || (unit >= 0x30 && unit <= 0x39) ? endOfNumber(text, n) : endOfWord(text, n)
        if (end < 0) return unexpected(n)
        // Fifteen digits always fit; whatever is longer, or has an exponent, is looked at by its value.
        if (unit < 0x3a && (end - n > 15 || hasExponent(text, n, end)) && !fits(text.slice(n, end))) {
          return { code: 'NUMBER_OUT_OF_RANGE', at: n, detail: 'a number beyond what a double holds exactly' }
        }
        n = end - 1
        next = open.length === 0 ? NOTHING : COMMA_OR_END
      }
    }
  }
  return next === NOTHING ? undefined : { code: 'MALFORMED', at: length, detail: 'the text ends too early' }
}

class Keys {
  readonly #few: string[] = []
  #many: Set<string> | undefined

  /** False where the key is there already. */
  add(key: string): boolean {
    if (this.#many !== undefined) return this.#many.size !== this.#many.add(key).size
    if (this.#few.includes(key)) return false
    this.#few.push(key)
    if (this.#few.length > FEW_KEYS) this.#many = new Set(this.#few)
    return true
  }
}

function unexpected(at: number): ScanStop {
  return { code: 'MALFORMED', at, detail: 'a character that may not stand there' }
}

/** Index of the closing quote, or -1. */
function endOfString(text: string, from: number, noEscapes: boolean): number {
  for (let n = from; n < text.length; n++) {
    if (noEscapes && n - from > LONG_STRING) return text.indexOf('"', n)
    const unit = text.charCodeAt(n)
    if (unit === 0x22) return n
    if (unit < 0x20) return -1
    if (unit !== 0x5c) continue
    const escaped = text.charCodeAt(++n)
    if (escaped !== 0x75) {
      if (!isSimpleEscape(escaped)) return -1
      continue
    }
    const code = hexUnit(text, n + 1)
    if (code < 0 || (code >= 0xdc00 && code <= 0xdfff)) return -1
    n += 4
    if (code >= 0xd800 && code <= 0xdbff) {
      const low = text.startsWith('\\u', n + 1) ? hexUnit(text, n + 3) : -1
      if (low < 0xdc00 || low > 0xdfff) return -1
      n += 6
    }
  }
  return -1
}

// Runs once per refused text, so it may take its time to say which fault it was.
function inString(text: string, from: number): ScanStop {
  for (let n = from; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    if (unit === 0x22) break
    if (unit < 0x20) return { code: 'MALFORMED', at: n, detail: 'a control character in a string' }
    if (unit !== 0x5c) continue
    const escaped = text.charCodeAt(n + 1)
    if (escaped !== 0x75) {
      if (!isSimpleEscape(escaped)) return { code: 'MALFORMED', at: n, detail: 'an escape that JSON does not have' }
      n++
      continue
    }
    const code = hexUnit(text, n + 2)
    if (code < 0) return { code: 'MALFORMED', at: n, detail: 'an escape that JSON does not have' }
    if (code >= 0xd800 && code <= 0xdfff) {
      const low = text.startsWith('\\u', n + 6) ? hexUnit(text, n + 8) : -1
      if (code > 0xdbff || low < 0xdc00 || low > 0xdfff) return { code: 'MALFORMED', at: n, detail: 'a lone surrogate' }
      n += 6
    }
    n += 5
  }
  return { code: 'MALFORMED', at: text.length, detail: 'a string without an end' }
}

function isSimpleEscape(unit: number): boolean {
  switch (unit) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true
    default:
      return false
  }
}

function hexUnit(text: string, from: number): number {
  let value = 0
  for (let n = from; n < from + 4; n++) {
    const unit = text.charCodeAt(n)
    if (unit >= 0x30 && unit <= 0x39) value = value * 16 + unit - 0x30
    else if ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x66) value = value * 16 + (unit | 0x20) - 0x57
    else return -1
  }
  return value
}

/** Index after the number that starts at `from`, or -1 where the grammar knows no such number. */
function endOfNumber(text: string, from: number): number {
  let n = text.charCodeAt(from) === 0x2d ? from + 1 : from
  const whole = n
  n = digits(text, n)
  if (n === whole || (n > whole + 1 && text.charCodeAt(whole) === 0x30)) return -1
  if (text.charCodeAt(n) === 0x2e) {
    const fraction = n + 1
    n = digits(text, fraction)
    if (n === fraction) return -1
  }
  if ((text.charCodeAt(n) | 0x20) === 0x65) {
    const sign = text.charCodeAt(n + 1)
    const exponent = sign === 0x2b || sign === 0x2d ? n + 2 : n + 1
    n = digits(text, exponent)
    if (n === exponent) return -1
  }
  return n
}

function digits(text: string, from: number): number {
  let n = from
  for (let unit = text.charCodeAt(n); unit >= 0x30 && unit <= 0x39; unit = text.charCodeAt(n)) n++
  return n
}

function hasExponent(text: string, from: number, end: number): boolean {
  for (let n = from; n < end; n++) if ((text.charCodeAt(n) | 0x20) === 0x65) return true
  return false
}

// RFC 8259 §6: integers within ±(2^53 − 1) are those on which all implementations agree.
function fits(literal: string): boolean {
  const value = Number(literal)
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

function endOfWord(text: string, from: number): number {
  if (text.startsWith('true', from) || text.startsWith('null', from)) return from + 4
  return text.startsWith('false', from) ? from + 5 : -1
}
