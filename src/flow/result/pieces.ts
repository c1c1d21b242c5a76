import { isAscii } from 'node:buffer'
import type { Json, JsonObject } from '../../words/json.ts'
import { withoutBinary } from './texts.ts'

/** A part of JSON text: its bytes, and the same as text of one byte a character. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly text: string
}

export interface Pieces {
  readonly pieces: readonly Piece[]
  /** No character beyond U+007F is in it. */
  readonly ascii: boolean
}

const SIZE = 1 << 16
// A piece repeats the end of the one before it, so that nothing short is cut in two.
const OVERLAP = 512
// An escape that can hide a printable or an invisible character: all but those of the C0 controls.
const HIDING = /\\(?:u(?!00[01])|\/)/
// The same, but not after a backslash that is itself escaped, as in JSON inside JSON. Slower, so it is asked second.
const REALLY_HIDING = /(?<!\\)(?:\\\\)*\\(?:u(?!00[01])|\/)/
const BINARY_FROM = 4096

/**
 * The JSON text of a result for searching: in pieces, with no escape that could hide what is searched for, and without
 * large base 64. Most results have neither, and then these are views of their bytes; the others are written anew, for
 * this use only.
 */
export function piecesOf(bytes: Uint8Array, value: JsonObject, types: readonly string[]): Pieces {
  if (bytes.length > BINARY_FROM && types.some((type) => type !== 'text' && type !== 'resource_link')) {
    const readable = withoutBinary(value)
    if (readable !== value) return writtenAnew(readable)
  }
  const pieces = cut(bytes)
  return pieces.some(({ text }) => HIDING.test(text) && REALLY_HIDING.test(text))
    ? writtenAnew(value)
    : { pieces, ascii: isAscii(bytes) }
}

function writtenAnew(value: Json): Pieces {
  const bytes = Buffer.from(JSON.stringify(value), 'utf8')
  return { pieces: cut(bytes), ascii: isAscii(bytes) }
}

function cut(bytes: Uint8Array): Piece[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length <= SIZE) return [{ bytes: buffer, text: buffer.toString('latin1') }]
  const pieces: Piece[] = []
  for (let from = 0; from < buffer.length; from += SIZE) {
    const begin = Math.max(0, from - OVERLAP)
    const end = Math.min(buffer.length, from + SIZE)
    pieces.push({ bytes: buffer.subarray(begin, end), text: buffer.toString('latin1', begin, end) })
  }
  return pieces
}
