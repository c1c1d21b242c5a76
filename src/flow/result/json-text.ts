/**
 * Changes to JSON text that leave every other byte as it is: numbers keep the digits that a double would lose, and large
 * results are not written anew. The text is known to be JSON, since it was parsed before.
 */

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d,
]

/** One member of an object: where its key begins, where its value begins and ends. */
export interface Span {
  readonly key: string
  readonly from: number
  readonly value: number
  readonly to: number
}

/** The members of the object that the text is, in the order of the text; a key that stands there twice is there twice. */
export function membersOf(bytes: Uint8Array): readonly Span[] {
  const spans: Span[] = []
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== OPEN) return spans
  at = skipSpace(bytes, at + 1)
  while (bytes[at] === QUOTE) {
    const from = at
    at = endOfString(bytes, from)
    const key = JSON.parse(textOf(bytes, from, at)) as string
    const value = skipSpace(bytes, skipSpace(bytes, at) + 1)
    const to = endOfValue(bytes, value)
    spans.push({ key, from, value, to })
    at = skipSpace(bytes, to)
    if (bytes[at] !== COMMA) break
    at = skipSpace(bytes, at + 1)
  }
  return spans
}

/** The text with some of its string values replaced, whatever escapes they are written with. Keys stay. */
export function replaceTexts(bytes: Uint8Array, changes: ReadonlyMap<string, string>): Uint8Array {
  let shortest = Infinity
  for (const text of changes.keys()) shortest = Math.min(shortest, text.length)
  const parts: Uint8Array[] = []
  let kept = 0
  for (let at = bytes.indexOf(QUOTE); at !== -1;) {
    const end = endOfString(bytes, at)
    // A string of n characters takes n bytes at least.
    if (end - at - 2 >= shortest && bytes[skipSpace(bytes, end)] !== COLON) {
      const change = changes.get(JSON.parse(textOf(bytes, at, end)) as string)
      if (change !== undefined) {
        parts.push(bytes.subarray(kept, at), Buffer.from(JSON.stringify(change), 'utf8'))
        kept = end
      }
    }
    at = bytes.indexOf(QUOTE, end)
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(kept)])
}

export function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8')
}

/** Index after the last byte that is no white space, so that an object ends at `lastByte(bytes) - 1`. */
export function trimmedEnd(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && isSpace(bytes[end - 1]!)) end--
  return end
}

function endOfValue(bytes: Uint8Array, from: number): number {
  if (bytes[from] === QUOTE) return endOfString(bytes, from)
  let open = 0
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      continue
    }
    if (byte === OPEN || byte === OPEN_LIST) open++
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (open === 0) return at
      if (--open === 0) return at + 1
    } else if (open === 0 && (byte === COMMA || isSpace(byte))) return at
    at++
  }
  return bytes.length
}

// Texts with many escapes are read byte by byte, long ones without by a native search.
const STRIDE = 64

/** Index after the closing quote of the string that opens at `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  for (;;) {
    const pause = Math.min(at + STRIDE, bytes.length)
    while (at < pause) {
      const byte = bytes[at]!
      if (byte === QUOTE) return at + 1
      at += byte === BACKSLASH ? 2 : 1
    }
    if (at >= bytes.length) return bytes.length
    const quote = bytes.indexOf(QUOTE, at)
    if (quote === -1) return bytes.length
    let slashes = 0
    while (quote - slashes > at && bytes[quote - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isSpace(bytes[at]!)) at++
  return at
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
