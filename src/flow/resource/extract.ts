import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import { type Refusal, refuse } from '../../words/verdict.ts'
import type { ScopeExtractor } from '../tool/profile.ts'

/** One call touches no more than this; a larger one is split by its caller. */
export const MAX_SCOPES = 256

/** A raw value that an extractor found, and where. */
export interface Drawn {
  readonly extractor: ScopeExtractor
  /** JSON pointer without `*`; empty for `literal`. */
  readonly at: string
  readonly text: string
}

/** A place that the pointer leads to: a value, nothing, or something that has no such place. */
type Found = { readonly at: string } & (
  | { readonly is: 'value'; readonly value: Json }
  | { readonly is: 'missing' }
  | { readonly is: 'mistyped'; readonly wanted: string }
)

/**
 * Everything that the profile's extractors draw from the arguments. An argument that is not there may mean "all of it" to
 * the server, so that a missing one, an empty list and a list with a gap are refused unless the extractor is optional; one
 * of another type is refused always, since the server may bend it into what it wants.
 */
export function extract(proposed: JsonObject, extractors: readonly ScopeExtractor[]): readonly Drawn[] | Refusal {
  const drawn: Drawn[] = []
  for (const extractor of extractors) {
    if (extractor.kind === 'literal') {
      drawn.push({ extractor, at: '', text: extractor.from })
      continue
    }
    const found = spread(proposed, extractor.from)
    if (found === undefined || drawn.length + found.length > MAX_SCOPES) {
      return unreadable(extractor, extractor.from, `the call touches more than ${MAX_SCOPES} things`)
    }
    if (found.length === 0 && extractor.optional !== true)
      return unreadable(extractor, extractor.from, 'it is an empty list')
    for (const place of found) {
      if (place.is === 'missing') {
        if (extractor.optional === true) continue
        return unreadable(extractor, place.at, 'it is missing')
      }
      if (place.is === 'mistyped') return unreadable(extractor, place.at, `it is not ${place.wanted}`)
      const text = textOf(place.value, extractor)
      if (text === undefined) return unreadable(extractor, place.at, `it is not ${TEXT[extractor.kind] ?? 'a text'}`)
      drawn.push({ extractor, at: place.at, text })
    }
  }
  return drawn
}

function unreadable(extractor: ScopeExtractor, at: string, because: string): Refusal {
  return refuse('SCOPE_UNREADABLE', { scope: extractor.kind, at, because })
}

const TEXT: Partial<Record<ScopeExtractor['kind'], string>> = { record: 'a text or a whole number' }

function textOf(value: Json, { kind }: ScopeExtractor): string | undefined {
  if (typeof value === 'string') return value
  // Records are often numbered; the other kinds have names.
  return kind === 'record' && typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined
}

/**
 * Follows an RFC 6901 pointer whose segment `*` stands for every element of a list. Unlike `resolvePointer` it tells of each
 * place where it is, and a gap from a wrong type. Undefined: too many places.
 */
function spread(root: Json, pointer: string): readonly Found[] | undefined {
  let found: readonly Found[] = [{ at: '', is: 'value', value: root }]
  for (const segment of pointer.split('/').slice(1)) {
    const next: Found[] = []
    for (const place of found) {
      if (place.is !== 'value') next.push(place)
      else if (segment !== '*') next.push(child(place.value, segment, `${place.at}/${segment}`))
      else if (place.value === null) next.push({ at: place.at, is: 'missing' })
      else if (!Array.isArray(place.value)) next.push({ at: place.at, is: 'mistyped', wanted: 'a list' })
      else if (next.length + place.value.length > MAX_SCOPES) return undefined
      else for (const [n, element] of place.value.entries()) next.push(valueAt(element as Json, `${place.at}/${n}`))
    }
    found = next
  }
  return found
}

function child(value: Json, segment: string, at: string): Found {
  if (value === null) return { at, is: 'missing' }
  if (Array.isArray(value) && /^(?:0|[1-9]\d*)$/.test(segment)) {
    const element = (value as readonly Json[])[Number(segment)]
    return element === undefined ? { at, is: 'missing' } : valueAt(element, at)
  }
  if (!isJsonObject(value)) return { at, is: 'mistyped', wanted: 'a member of an object' }
  const held = member(value, segment.replaceAll('~1', '/').replaceAll('~0', '~'))
  return held === undefined ? { at, is: 'missing' } : valueAt(held, at)
}

function valueAt(value: Json, at: string): Found {
  // `null` is how many callers write "not given".
  return value === null ? { at, is: 'missing' } : { at, is: 'value', value }
}
