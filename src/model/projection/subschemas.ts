import { type Json, type JsonObject, isJsonObject } from '../../words/json.ts'

/** A schema that cannot be shown to a provider. Caught where a tool is projected: that tool is set aside, not the request. */
export class Unprojectable extends Error {
  /** JSON pointer into the schema. */
  readonly at: string
  constructor(at: string, why: string) {
    super(at === '' ? why : `${why} (at ${at.length > 120 ? `${at.slice(0, 120)}…` : at})`)
    this.name = 'Unprojectable'
    this.at = at
  }
}

// Where JSON Schema keeps further schemas. What stands under any other keyword is data, and is never touched.
export const schemaMaps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])
export const schemaLists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const schemaSlots: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
])

export interface Place {
  /** JSON pointer of the schema. */
  readonly at: string
  readonly keyword: string
  readonly depth: number
}

export const MAX_DEPTH = 64

/** A copy of a schema in which `change` has replaced each schema directly below. Members that hold no schema stay as they are. */
export function mapSubschemas(
  schema: JsonObject,
  place: Pick<Place, 'at' | 'depth'>,
  change: (sub: Json, place: Place) => Json,
): JsonObject {
  if (place.depth > MAX_DEPTH) throw new Unprojectable(place.at, `nested deeper than ${MAX_DEPTH}`)
  const below = (keyword: string, ...steps: string[]): Place => ({
    at: `${place.at}/${[keyword, ...steps].map(escapePointer).join('/')}`,
    keyword,
    depth: place.depth + 1,
  })
  const members: [string, Json][] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (schemaMaps.has(keyword) || keyword === 'dependencies') {
      // Some serialisers write null for "none".
      if (value === null) continue
      if (!isJsonObject(value)) throw new Unprojectable(below(keyword).at, 'not an object of schemas')
      const changed = Object.entries(value).map(([name, sub]): [string, Json] =>
        Array.isArray(sub) && keyword === 'dependencies' ? [name, sub] : [name, change(sub, below(keyword, name))],
      )
      // fromEntries defines own members, `__proto__` too; an assignment would not.
      members.push([keyword, Object.fromEntries(changed)])
    } else if (schemaLists.has(keyword)) {
      if (!Array.isArray(value)) throw new Unprojectable(below(keyword).at, 'not a list of schemas')
      members.push([keyword, value.map((sub: Json, n) => change(sub, below(keyword, String(n))))])
    } else if (keyword === 'items' && Array.isArray(value)) {
      members.push([keyword, value.map((sub: Json, n) => change(sub, below(keyword, String(n))))])
    } else if (schemaSlots.has(keyword)) {
      members.push([keyword, change(value, below(keyword))])
    } else members.push([keyword, value])
  }
  return Object.fromEntries(members)
}

/** Calls `visit` for the schema and each one below it. */
export function eachSchema(schema: JsonObject, visit: (schema: JsonObject, at: string) => void): void {
  const walk = (sub: Json, { at, depth }: Pick<Place, 'at' | 'depth'>): Json => {
    if (isJsonObject(sub)) {
      visit(sub, at)
      mapSubschemas(sub, { at, depth }, walk)
    }
    return sub
  }
  walk(schema, { at: '', depth: 0 })
}

export function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
}
