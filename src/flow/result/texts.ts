import type { Json, JsonObject } from '../../words/json.ts'

/**
 * Visits every text in a result but those that hold base 64: `data` of an image or audio block, `blob` of a resource. Keys
 * of objects are no texts. The value has to be within the depth limit.
 */
export function visitTexts(value: Json, visit: (text: string, key: string) => void, key = ''): void {
  if (typeof value === 'string') return visit(value, key)
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) visitTexts(item, visit, key)
    return
  }
  const object = value as JsonObject
  for (const name in object) if (!isBinary(object, name)) visitTexts(object[name]!, visit, name)
}

/** The same without its base 64, or the very same value where it has none. */
export function withoutBinary(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map(withoutBinary)
    return items.every((item, n) => item === value[n]) ? value : items
  }
  const entries = Object.entries(value as JsonObject)
  const kept = entries.map(([name, item]) => (isBinary(value as JsonObject, name) ? '' : withoutBinary(item)))
  if (kept.every((item, n) => item === entries[n]![1])) return value
  return Object.fromEntries(entries.map(([name], n) => [name, kept[n]!]))
}

/** Whether a member holds base 64 by what the protocol says of the object that it is in. */
export function isBinary(object: JsonObject, name: string): boolean {
  if (name === 'blob') return typeof object['uri'] === 'string' && typeof object['blob'] === 'string'
  if (name !== 'data' || typeof object['data'] !== 'string') return false
  return (object['type'] === 'image' || object['type'] === 'audio') && typeof object['mimeType'] === 'string'
}
