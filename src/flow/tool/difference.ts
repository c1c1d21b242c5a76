import { canonical } from '../../words/canonical.ts'
import { type Json, isJsonObject } from '../../words/json.ts'
import { segmentOf } from './pointer.ts'
import type { Difference } from './selected.ts'
import { visible } from './visible.ts'

/** Rows, and characters of one value, that a person is shown. */
const ROWS = 50
const LENGTH = 400
/** Characters of what did not change, kept on each side of what did. */
const AROUND = 60

/**
 * Where the live definition differs from the approved one, by JSON pointer. At most 50 rows; a last row says how many
 * more there are. Values are shortened around what changed, and characters that nobody sees are written out.
 */
export function differences(approved: Json | undefined, live: Json | undefined): Difference[] {
  const rows: Difference[] = []
  const more = compare(approved, live, '', rows)
  if (more === 0) return rows
  const hidden = more + 1
  return [...rows.slice(0, ROWS - 1), { at: '', approved: undefined, live: `${hidden} more differences are not shown` }]
}

/** Answers how many rows there was no room for. */
function compare(approved: Json | undefined, live: Json | undefined, at: string, rows: Difference[]): number {
  if (isJsonObject(approved) && isJsonObject(live)) {
    let more = 0
    for (const key of [...new Set([...Object.keys(approved), ...Object.keys(live)])].sort()) {
      more += compare(own(approved, key), own(live, key), at + segmentOf(key), rows)
    }
    return more
  }
  if (Array.isArray(approved) && Array.isArray(live) && !(approved.every(isScalar) && live.every(isScalar))) {
    let more = 0
    for (let n = 0; n < Math.max(approved.length, live.length); n++) {
      more += compare(approved[n] as Json | undefined, live[n] as Json | undefined, `${at}/${n}`, rows)
    }
    return more
  }
  if (textOf(approved) === textOf(live)) return 0
  if (rows.length >= ROWS) return 1
  rows.push(row(at, approved, live))
  return 0
}

function row(at: string, approved: Json | undefined, live: Json | undefined): Difference {
  if (typeof approved === 'string' && typeof live === 'string') {
    const { start, end } = changed(approved, live)
    return { at, approved: around(approved, start, end), live: around(live, start, end) }
  }
  return { at, approved: short(approved), live: short(live) }
}

/** How many characters at the beginning and at the end of two texts are equal, cut back to whole words. */
function changed(one: string, other: string): { start: number; end: number } {
  const limit = Math.min(one.length, other.length)
  let start = 0
  while (start < limit && one[start] === other[start]) start++
  let end = 0
  while (end < limit - start && one.at(-1 - end) === other.at(-1 - end)) end++
  while (start > 0 && /\S/.test(one[start - 1]!)) start--
  while (end > 0 && /\S/.test(one[one.length - end]!)) end--
  return { start, end }
}

function around(text: string, start: number, end: number): string {
  const whole = visible(text)
  if (whole.length <= LENGTH) return whole
  // Written out, hidden characters take room: they may not push what changed out of sight.
  const before = visible(text.slice(0, start).toWellFormed())
  const to = Math.min(text.length, text.length - end + AROUND)
  const rest = visible(text.slice(start, to).toWellFormed())
  const lead = before.length > AROUND ? `…${before.slice(-AROUND)}` : before
  const tail = cut(rest, LENGTH - AROUND - 2)
  return `${lead}${tail}${to < text.length && !tail.endsWith('…') ? '…' : ''}`
}

function short(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : cut(visible(textOf(value)!), LENGTH)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : canonical(value, 256)
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function own(object: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
