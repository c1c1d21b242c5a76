import type { JsonObject } from '../../words/json.ts'
import { membersOf } from '../wire/members.ts'

/**
 * A JSON object's text without some of its members. What stays keeps its bytes, so that no digit of a number is lost.
 * `value` is the same object parsed: it is written anew where the text has no plain outline.
 */
export function withoutMembers(bytes: Uint8Array, value: JsonObject, names: readonly string[]): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const members = membersOf(text)
  if (typeof members === 'string') {
    const kept = Object.entries(value).filter(([key]) => !names.includes(key))
    return Buffer.from(JSON.stringify(Object.fromEntries(kept)), 'utf8')
  }
  const pieces: Uint8Array[] = []
  for (const [n, key] of members.keys.entries()) {
    if (names.includes(key)) continue
    const { from, to } = members.spans[n]!
    pieces.push(
      Buffer.from(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:`, 'utf8'),
      text.subarray(from, to),
    )
  }
  if (pieces.length === 0) return Buffer.from('{}')
  pieces.push(Buffer.from('}'))
  return Buffer.concat(pieces)
}
