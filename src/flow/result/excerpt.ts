import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import type { CapabilityKind } from '../tool/selected.ts'
import { membersOf, textOf } from './json-text.ts'
import { listNameOf } from './shape.ts'
import { isBinary } from './texts.ts'

/** Where the whole is, and how large. */
export interface Whole {
  readonly uri: string
  readonly bytes: number
}

export interface Excerpt {
  readonly bytes: Uint8Array
  /** Members of the result that had no room. The list of contents is not among them, since some of it always has. */
  readonly left: readonly string[]
}

// About what readers of long output get from other tools: most of the beginning, and enough of the end to see how it ended.
const HEAD_SHARE = 0.75
/** Of the room, what members beside the contents (structured content, `_meta`) may take. */
const MEMBERS_SHARE = 0.5

/**
 * The beginning and the end of a result that is too large, as a result of the same kind in at most `room` bytes of JSON:
 * the first blocks, a notice with the size of what is left out, a link to the whole where this kind can hold one, and the
 * last blocks. A text is cut between characters; base 64 is never cut but left out. Undefined where not even the notice
 * fits. Other members stay byte for byte, `isError` among them, as long as they take half of the room at most.
 *
 * @param bytes JSON text of `value`.
 */
export function excerptOf(
  kind: CapabilityKind,
  bytes: Uint8Array,
  value: JsonObject,
  room: number,
  whole: Whole,
): Excerpt | undefined {
  const name = listNameOf(kind)
  const members: string[] = []
  const left: string[] = []
  let taken = 2
  // Small ones first, so that `isError` is never crowded out.
  for (const span of membersOf(bytes).toSorted((one, other) => one.to - one.from - (other.to - other.from))) {
    if (span.key === name) continue
    const size = span.to - span.from + 1
    if (taken + size <= room * MEMBERS_SHARE) {
      members.push(textOf(bytes, span.from, span.to))
      taken += size
    } else left.push(span.key)
  }
  const list = member(value, name)
  const items = Array.isArray(list) ? (list as readonly Json[]) : []
  // Where structured content is all there is, its JSON is shown as text: its beginning says more than nothing.
  const shown =
    items.length === 0 && left.includes('structuredContent')
      ? [textBlock(JSON.stringify(value['structuredContent']))]
      : items
  const listRoom = room - taken - JSON.stringify(name).length - 4
  const listed = excerptOfList(kind, shown, listRoom, whole, taken)
  if (listed === undefined) return undefined
  const text = `{${[`${JSON.stringify(name)}:[${listed.join(',')}]`, ...members].join(',')}}`
  return { bytes: Buffer.from(text, 'utf8'), left }
}

function excerptOfList(
  kind: CapabilityKind,
  items: readonly Json[],
  room: number,
  whole: Whole,
  beside: number,
): readonly string[] | undefined {
  const widest = noticeOf(kind, whole, whole.bytes)
  let free = room - sizeOf(widest)
  if (free < 0) return undefined

  const head: string[] = []
  const tail: string[] = []
  let headRoom = Math.floor(free * HEAD_SHARE)
  let next = 0
  let cut = 0
  for (; next < items.length; next++) {
    const text = wholeWithin(items[next]!, headRoom - 1)
    if (text !== undefined) {
      head.push(text)
      headRoom -= byteLength(text) + 1
      continue
    }
    const found = cutItem(items[next]!, 0, headRoom - 1, 'head')
    if (found !== undefined) {
      head.push(found.text)
      cut = found.used
    }
    break
  }
  free -= sizeOf(head)
  for (let last = items.length - 1; last >= next; last--) {
    const used = last === next ? cut : 0
    const text = used > 0 ? undefined : wholeWithin(items[last]!, free - 1)
    if (text !== undefined) {
      tail.push(text)
      free -= byteLength(text) + 1
      continue
    }
    const found = cutItem(items[last]!, used, free - 1, 'tail')
    if (found !== undefined) tail.push(found.text)
    break
  }
  const omitted = Math.max(0, whole.bytes - beside - sizeOf(head) - sizeOf(tail))
  return [...head, ...noticeOf(kind, whole, omitted), ...tail.toReversed()]
}

/** JSON text of the items that say that something is missing. Widest where `omitted` has most digits. */
function noticeOf(kind: CapabilityKind, { uri, bytes }: Whole, omitted: number): readonly string[] {
  const words = `[This result has ${bytes} bytes, and ${omitted} of them are left out here. The whole can be read in parts at ${uri}]`
  const link = { type: 'resource_link', uri, name: 'the whole result', mimeType: 'application/json', size: bytes }
  const items: readonly Json[] =
    kind === 'tool'
      ? [textBlock(words), link]
      : kind === 'prompt'
        ? [message(textBlock(words)), message(link)]
        : [{ uri, mimeType: 'text/plain', text: words }]
  return items.map((item) => JSON.stringify(item))
}

/** JSON text of an item where it takes `room` bytes at most, with words in the place of base 64 that does not. */
function wholeWithin(item: Json, room: number): string | undefined {
  if ((textIn(item)?.text.length ?? 0) > room) return undefined
  const text = JSON.stringify(wellFormed(withoutLarge(item, room)))
  return byteLength(text) <= room ? text : undefined
}

/** Where an item is text, a part of it that takes `room` bytes at most, and up to where of the text it then is. */
function cutItem(
  item: Json,
  used: number,
  room: number,
  side: 'head' | 'tail',
): { readonly text: string; readonly used: number } | undefined {
  const found = textIn(item)
  if (found === undefined) return undefined
  const spare = room - byteLength(JSON.stringify(found.with('')))
  if (spare <= 0) return undefined
  const whole = found.text.toWellFormed()
  const at = side === 'head' ? headWithin(whole, spare) : tailWithin(whole, used, spare)
  const part = side === 'head' ? whole.slice(0, at) : whole.slice(at)
  return part === '' ? undefined : { text: JSON.stringify(found.with(part)), used: at }
}

/** The text of an item, and the same item with another text. The rest of it, such as for whom it is meant, stays. */
function textIn(item: Json): { readonly text: string; with(text: string): Json } | undefined {
  if (!isJsonObject(item)) return undefined
  const text = member(item, 'text')
  if (typeof text === 'string') return { text, with: (text) => ({ ...item, text }) }
  for (const name of ['resource', 'content'] as const) {
    const inner = textIn(member(item, name) ?? null)
    if (inner !== undefined) return { text: inner.text, with: (text) => ({ ...item, [name]: inner.with(text) }) }
  }
  return undefined
}

/** The item, or words in the place of its base 64 where that is larger than the room. */
function withoutLarge(item: Json, room: number): Json {
  if (!isJsonObject(item)) return item
  const inner = member(item, 'content')
  if (isJsonObject(inner)) {
    const less = withoutLarge(inner, room)
    return less === inner ? item : { ...item, content: less }
  }
  const holder = isJsonObject(member(item, 'resource')) ? (item['resource'] as JsonObject) : item
  const name = isBinary(holder, 'data') ? 'data' : isBinary(holder, 'blob') ? 'blob' : undefined
  if (name === undefined) return item
  const data = holder[name] as string
  if (data.length <= room) return item
  const mimeType = member(holder, 'mimeType')
  const kind = typeof mimeType === 'string' && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(mimeType) ? mimeType : 'binary'
  const words = `[${kind}, ${data.length} characters of base 64, left out here]`
  return 'type' in item ? textBlock(words) : { uri: holder['uri']!, mimeType: 'text/plain', text: words }
}

/** How many UTF-16 units from the start take `room` bytes of JSON at most. Never half of a character. */
function headWithin(text: string, room: number): number {
  let at = 0
  for (let spent = 0; at < text.length;) {
    const unit = text.charCodeAt(at)
    spent += bytesInJson(unit)
    if (spent > room) break
    at += isHighSurrogate(unit) ? 2 : 1
  }
  return at
}

function tailWithin(text: string, floor: number, room: number): number {
  let at = text.length
  for (let spent = 0; at > floor;) {
    const unit = text.charCodeAt(at - 1)
    const low = unit >= 0xdc00 && unit <= 0xdfff
    spent += low ? 4 : bytesInJson(unit)
    if (spent > room) break
    at -= low ? 2 : 1
  }
  return at
}

/** Bytes that a unit takes as `JSON.stringify` writes it; a pair of surrogates counts at its first. */
function bytesInJson(unit: number): number {
  if (unit < 0x20) return unit === 0x08 || unit === 0x09 || unit === 0x0a || unit === 0x0c || unit === 0x0d ? 2 : 6
  if (unit === 0x22 || unit === 0x5c) return 2
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  return isHighSurrogate(unit) ? 4 : 3
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function wellFormed(item: Json): Json {
  const found = textIn(item)
  return found === undefined || found.text.isWellFormed() ? item : found.with(found.text.toWellFormed())
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}
function message(content: Json): JsonObject {
  return { role: 'user', content }
}
function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
/** Bytes of list items, with a comma each. */
function sizeOf(items: readonly string[]): number {
  return items.reduce((sum, item) => sum + byteLength(item) + 1, 0)
}
