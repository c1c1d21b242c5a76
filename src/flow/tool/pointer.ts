import type { Json, JsonObject } from '../../words/json.ts'

export interface Pointed {
  /** Every value that the pointer leads to: none or one, or as many as `*` stands for. */
  readonly values: readonly Json[]
  /** False where the way ended early somewhere: a member is missing, or an index lies beyond the end. */
  readonly complete: boolean
}

const NOWHERE: Pointed = Object.freeze({ values: Object.freeze([]), complete: false })

/** RFC 6901, in the form of a string: empty, or segments that each begin with `/`; `~` only as `~0` and `~1`. */
export function isPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)
}

/**
 * Follows a JSON pointer (RFC 6901) by own members only, so that `/constructor` finds nothing that was not sent. One
 * addition: `*` stands for every element of an array. A text that is no pointer leads nowhere.
 */
export function resolvePointer(value: Json, pointer: string): Pointed {
  if (pointer === '') return { values: [value], complete: true }
  if (!isPointer(pointer)) return NOWHERE
  let here: Json[] = [value]
  let complete = true
  for (const segment of pointer.slice(1).split('/')) {
    const next: Json[] = []
    for (const from of here) if (!step(from, unescape(segment), next)) complete = false
    here = next
  }
  return { values: here, complete }
}

/** One key as a segment of a pointer. */
export function segmentOf(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function unescape(segment: string): string {
  return segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment
}

function step(from: Json, key: string, into: Json[]): boolean {
  if (Array.isArray(from)) {
    if (key === '*') {
      // Not by spreading: an array of a foreign size would not fit on the stack.
      for (const item of from as readonly Json[]) into.push(item)
      return true
    }
    const index = /^(?:0|[1-9][0-9]{0,9})$/.test(key) ? Number(key) : from.length
    if (index >= from.length) return false
    into.push(from[index] as Json)
    return true
  }
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, key)) return false
  into.push((from as JsonObject)[key]!)
  return true
}
