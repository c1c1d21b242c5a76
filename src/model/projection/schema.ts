import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import { type KeyPlan, renameKeys } from './keys.ts'
import type { Profile } from './profiles.ts'
import { checkReferences } from './references.ts'
import { MAX_DEPTH, Unprojectable, mapSubschemas, schemaMaps, without } from './subschemas.ts'
import { type Alternatives, followRoot, mergeRootUnions, propertiesOf } from './unions.ts'

export type SchemaProjection =
  | {
      readonly kind: 'fits'
      readonly schema: JsonObject
      readonly keys: KeyPlan
      /** What the schema could not say, in words for the model; each is a warning on the record too. */
      readonly notes: readonly string[]
    }
  | { readonly kind: 'quarantined'; readonly why: string }

const MAX_SCHEMAS = 10_000
const types: ReadonlySet<Json> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/**
 * A tool's input schema as one provider takes it. The same schema gives the same bytes whatever the order of its keys.
 * It only guides the model: what the model sends is judged against the original.
 */
export function projectSchema(original: JsonObject, profile: Profile): SchemaProjection {
  try {
    const notes: string[] = []
    let alternatives: readonly Alternatives[] = []
    checkReferences(original)
    let root = objectRoot(followRoot(original, original))
    if (profile.rootUnions === 'merge') {
      const merged = mergeRootUnions(root)
      alternatives = merged.alternatives
      root = objectRoot(merged.schema)
    }
    root = clean({ ...root, properties: propertiesOf(root) }, profile, notes)
    const renamed = renameKeys(root, profile.keys)
    // A reference into a part that was merged away would fail the whole request.
    checkReferences(renamed.schema)
    const shown = new Map([...renamed.keys].map(([key, name]) => [name, key]))
    notes.push(...alternatives.map((found) => inWords(found, shown)))
    return { kind: 'fits', schema: inOrder(renamed.schema) as JsonObject, keys: renamed.keys, notes: notes.sort() }
  } catch (fault) {
    if (fault instanceof Unprojectable) return { kind: 'quarantined', why: fault.message }
    throw fault
  }
}

function objectRoot(root: JsonObject): JsonObject {
  const type = member(root, 'type')
  const object = type === undefined || type === null || type === 'object'
  if (!object && !(Array.isArray(type) && type.includes('object'))) {
    throw new Unprojectable('/type', 'the arguments of a tool are an object, and this schema describes something else')
  }
  return { ...root, type: 'object' }
}

function clean(root: JsonObject, profile: Profile, notes: string[]): JsonObject {
  let schemas = 0
  const walk = (schema: Json, at: string, keyword: string, depth: number): Json => {
    if (++schemas > MAX_SCHEMAS) throw new Unprojectable(at, `more than ${MAX_SCHEMAS} schemas`)
    if (typeof schema === 'boolean') {
      // Where a property is described, several servers read only objects.
      if (!schemaMaps.has(keyword)) return schema
      return schema ? {} : { not: {} }
    }
    if (!isJsonObject(schema)) throw new Unprojectable(at, 'no schema stands here')
    const kept = ownMembers(schema, at, profile, notes)
    return mapSubschemas(kept, { at, depth }, (sub, place) => walk(sub, place.at, place.keyword, place.depth))
  }
  return walk(without(root, '$schema'), '', '', 0) as JsonObject
}

function ownMembers(schema: JsonObject, at: string, profile: Profile, notes: string[]): JsonObject {
  const drop: string[] = []
  const type = member(schema, 'type')
  if (type === null) drop.push('type')
  else if (type !== undefined && !(Array.isArray(type) ? type : [type]).every((one: Json) => types.has(one))) {
    throw new Unprojectable(`${at}/type`, 'no type of JSON')
  }
  let required = member(schema, 'required')
  if (required !== undefined) {
    // Draft 3 had `required: true` beside a type, and some serialisers write null: neither is a list.
    if (Array.isArray(required) && required.every((name) => typeof name === 'string')) {
      required = [...new Set(required)].sort()
    } else required = undefined
    if (required === undefined || (required as readonly Json[]).length === 0) drop.push('required')
  }
  for (const keyword of profile.dropped) {
    const value = member(schema, keyword)
    if (value === undefined) continue
    drop.push(keyword)
    notes.push(lost(at, keyword, value))
  }
  const pattern = member(schema, 'pattern')
  if (!profile.lookaround && typeof pattern === 'string' && /\(\?<?[=!]/.test(pattern)) {
    drop.push('pattern')
    notes.push(lost(at, 'pattern', pattern))
  }
  const kept = without(schema, ...drop)
  return drop.includes('required') || required === undefined ? kept : { ...kept, required }
}

function inWords({ keyword, sets }: Alternatives, shown: ReadonlyMap<string, string>): string {
  const words = sets.slice(0, 8).map((set) => set.map((name) => shown.get(name) ?? name).join(' + ') || 'none of them')
  const which = keyword === 'oneOf' ? 'exactly one' : 'at least one'
  return `Give ${which} of these sets of arguments: ${words.join('; or ')}${sets.length > 8 ? '; …' : ''}.`
}

function lost(at: string, keyword: string, value: Json): string {
  const text = JSON.stringify(inOrder(value))
  return `${at === '' ? 'The arguments' : at} must also satisfy ${keyword}: ${text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text}.`
}

/** The same value with every object's keys in one order, so that equal schemas are equal bytes. */
function inOrder(value: Json, depth = 0): Json {
  if (depth > 4 * MAX_DEPTH) throw new Unprojectable('', 'a value in it is nested too deep')
  if (Array.isArray(value)) return value.map((item: Json) => inOrder(item, depth + 1))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key]!, depth + 1)]),
  )
}
