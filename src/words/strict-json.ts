import { isUtf8 } from 'node:buffer'
import type { Json } from './json.ts'
import type { RefusalCode } from './refusals.ts'
import { scanJson } from './strict-json-scan.ts'

export interface ParseLimits {
  /** Size of the UTF-8 text. */
  readonly bytes: number
  /** How many arrays and objects may be open at once; a scalar has depth 0. */
  readonly depth: number
}

export type Unparsed = Extract<
  RefusalCode,
  'MALFORMED' | 'DUPLICATE_KEY' | 'NUMBER_OUT_OF_RANGE' | 'TOO_DEEP' | 'TOO_LARGE'
>

export interface Stop {
  readonly ok: false
  readonly code: Unparsed
  /** Where reading stopped: a UTF-16 index into the text, or a byte index where the bytes are no UTF-8 or too many. */
  readonly at: number
  /** Never quotes the text, which may hold a secret. */
  readonly detail: string
}

export type Parsed = { readonly ok: true; readonly value: Json } | Stop

/**
 * Reads JSON (RFC 8259) so that no two readers can understand it differently: UTF-8 without a byte order mark, no lone
 * surrogates, no key twice in an object, no number that loses its value in a double. `__proto__` is a key like any other.
 */
export function parseStrict(input: Uint8Array | string, limits: ParseLimits): Parsed {
  let text: string
  if (typeof input === 'string') {
    if (longerThan(input, limits.bytes)) return stop('TOO_LARGE', limits.bytes, `more than ${limits.bytes} bytes`)
    if (!input.isWellFormed()) return stop('MALFORMED', firstLoneSurrogate(input), 'a lone surrogate')
    text = input
  } else {
    if (input.byteLength > limits.bytes) return stop('TOO_LARGE', limits.bytes, `more than ${limits.bytes} bytes`)
    if (!isUtf8(input)) return stop('MALFORMED', firstBadByte(input), 'not UTF-8')
    text = Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString('utf8')
  }
  if (text.charCodeAt(0) === 0xfeff) return stop('MALFORMED', 0, 'a byte order mark')
  const found = scanJson(text, limits.depth, !text.includes('\\'))
  if (found !== undefined) return stop(found.code, found.at, found.detail)
  try {
    return { ok: true, value: JSON.parse(text) as Json }
  } catch {
    // The scan passes over the inside of long strings; here it looks at every character, to say where the fault is.
    const exact = scanJson(text, limits.depth, false)
    return stop('MALFORMED', exact?.at ?? text.length, exact?.detail ?? 'not JSON')
  }
}

function stop(code: Unparsed, at: number, detail: string): Stop {
  return { ok: false, code, at, detail }
}

// A UTF-16 unit takes one to three bytes of UTF-8, so most texts need no counting.
function longerThan(text: string, bytes: number): boolean {
  if (text.length > bytes) return true
  return text.length * 3 > bytes && Buffer.byteLength(text, 'utf8') > bytes
}

function firstLoneSurrogate(text: string): number {
  for (let n = 0; n < text.length; n++) {
    const unit = text.codePointAt(n)!
    if (unit > 0xffff) n++
    else if (unit >= 0xd800 && unit <= 0xdfff) return n
  }
  return text.length
}

// Decoding puts U+FFFD where a byte is wrong; one that the sender wrote itself is really there.
function firstBadByte(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString('utf8')
  let at = 0
  let from = 0
  for (let n = text.indexOf('\ufffd'); n !== -1; n = text.indexOf('\ufffd', n + 1)) {
    at += Buffer.byteLength(text.slice(from, n), 'utf8')
    if (buffer.subarray(at, at + 3).compare(REPLACEMENT) !== 0) return at
    at += 3
    from = n + 1
  }
  return bytes.length
}

const REPLACEMENT = Buffer.from('\ufffd', 'utf8')
