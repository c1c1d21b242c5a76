import { digest } from '../../words/digest.ts'
import { type Json, type JsonObject, isJsonObject } from '../../words/json.ts'
import type { KeyRule } from './profiles.ts'
import { renameInReference } from './references.ts'
import { eachSchema, mapSubschemas } from './subschemas.ts'
import { propertiesOf } from './unions.ts'

/** Argument names as the model knows them → as the server knows them. Holds only those that differ. */
export type KeyPlan = ReadonlyMap<string, string>

export const noKeys: KeyPlan = new Map()

/** Renames what the rule does not take. A new name depends on the old one alone, and carries a digest of it. */
export function renameKeys(root: JsonObject, rule: KeyRule | undefined): { schema: JsonObject; keys: KeyPlan } {
  if (rule === undefined) return { schema: root, keys: noKeys }
  const fits = new RegExp(`^[${rule.rest}]{1,${rule.max}}$`)
  const taken = new Set<string>()
  const odd = new Set<string>()
  eachSchema(root, (schema, at) => {
    for (const name of Object.keys(propertiesOf(schema))) {
      taken.add(name)
      if (!fits.test(name) && (rule.where === 'everywhere' || at === '')) odd.add(name)
    }
  })
  if (odd.size === 0) return { schema: root, keys: noKeys }

  const fresh = new Map<string, string>()
  for (const name of [...odd].sort()) {
    let length = 8
    let key = shortened(name, rule, length)
    while (taken.has(key) && length < 48) key = shortened(name, rule, (length += 8))
    taken.add(key)
    fresh.set(name, key)
  }

  const renamed = (name: string): string => fresh.get(name) ?? name
  const walk = (schema: Json, at: string, depth: number): Json => {
    if (!isJsonObject(schema)) return schema
    const changed = mapSubschemas(schema, { at, depth }, (sub, place) => walk(sub, place.at, place.depth))
    const here = rule.where === 'everywhere' || at === ''
    return Object.fromEntries(
      Object.entries(changed).map(([keyword, value]): [string, Json] => {
        if ((keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string') {
          const follow = (name: string, root: boolean) => (root || rule.where === 'everywhere' ? renamed(name) : name)
          return [keyword, renameInReference(value, follow)]
        }
        return [keyword, here ? renameMember(keyword, value, fresh) : value]
      }),
    )
  }
  return {
    schema: walk(root, '', 0) as JsonObject,
    keys: new Map([...fresh].map(([name, key]) => [key, name])),
  }
}

function renameMember(keyword: string, value: Json, fresh: ReadonlyMap<string, string>): Json {
  const renamed = (name: Json): Json => (typeof name === 'string' ? (fresh.get(name) ?? name) : name)
  switch (keyword) {
    case 'required':
      return Array.isArray(value) ? value.map(renamed).sort() : value
    case 'properties':
      return isJsonObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([name, sub]) =>
              fresh.has(name) ? [fresh.get(name)!, named(sub, name)] : [name, sub],
            ),
          )
        : value
    case 'dependentSchemas':
    case 'dependentRequired':
    case 'dependencies':
      return isJsonObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([name, sub]) => [
              fresh.get(name) ?? name,
              Array.isArray(sub) ? sub.map(renamed) : sub,
            ]),
          )
        : value
    default:
      return value
  }
}

// The model should still know what people and documents call the argument.
function named(schema: Json, name: string): Json {
  if (!isJsonObject(schema)) return schema
  const shown = name.length > 100 ? `${name.slice(0, 100).toWellFormed()}…` : name
  const own = typeof schema['description'] === 'string' ? `${schema['description']} ` : ''
  return { ...schema, description: `${own}(The server calls this ${JSON.stringify(shown)}.)` }
}

function shortened(name: string, rule: KeyRule, length: number): string {
  const stem = name.replace(new RegExp(`[^${rule.rest}]+`, 'gu'), '_').replace(/^_+|_+$/g, '')
  return `${(stem || 'key').slice(0, rule.max - length - 1)}_${digest(name).slice(0, length)}`
}

/**
 * The arguments under the server's own names; undefined where two of them come to the same name. Names are given back
 * at every depth, since a schema may use itself again further down.
 */
export function restoreKeys(value: Json, keys: KeyPlan): Json | undefined {
  if (keys.size === 0) return value
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value as readonly Json[]) {
      const restored = restoreKeys(item, keys)
      if (restored === undefined) return undefined
      items.push(restored)
    }
    return items
  }
  if (!isJsonObject(value)) return value
  const members = new Map<string, Json>()
  for (const [key, sub] of Object.entries(value)) {
    const name = keys.get(key) ?? key
    const restored = restoreKeys(sub, keys)
    if (restored === undefined || members.has(name)) return undefined
    members.set(name, restored)
  }
  return Object.fromEntries(members)
}
