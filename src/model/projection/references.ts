import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { Unprojectable, eachSchema, escapePointer, schemaLists, schemaMaps } from './subschemas.ts'

/**
 * Throws Unprojectable for a reference that does not lead to a schema inside this one. Nothing is ever fetched.
 * Recursion is fine: a pointer is followed once, not unrolled.
 */
export function checkReferences(root: JsonObject): void {
  const anchors = new Set<string>()
  eachSchema(root, (schema) => {
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const name = textMember(schema, keyword)
      if (name !== undefined) anchors.add(`#${name}`)
    }
  })
  eachSchema(root, (schema, at) => {
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = member(schema, keyword)
      if (reference === undefined) continue
      if (typeof reference !== 'string') throw new Unprojectable(at, `${keyword} is not text`)
      if (anchors.has(reference)) continue
      if (!reference.startsWith('#')) throw new Unprojectable(at, `${keyword} leads outside the schema`)
      const target = resolve(root, reference)
      if (!isJsonObject(target) && typeof target !== 'boolean') {
        throw new Unprojectable(at, `${keyword} leads to no schema`)
      }
    }
  })
}

/** What a reference of the form `#` or `#/…` (RFC 6901 §6) leads to; undefined where it leads nowhere. */
export function resolve(root: JsonObject, reference: string): Json | undefined {
  const steps = stepsOf(reference)
  if (steps === undefined) return undefined
  let current: Json | undefined = root
  for (const step of steps) {
    if (Array.isArray(current)) current = /^(?:0|[1-9]\d*)$/.test(step) ? (current[Number(step)] as Json) : undefined
    else if (isJsonObject(current)) current = member(current, step)
    else return undefined
  }
  return current
}

/** The same reference after properties were renamed. `rename` is told whether the property is one of the root's. */
export function renameInReference(reference: string, rename: (name: string, root: boolean) => string): string {
  const steps = stepsOf(reference)
  if (steps === undefined || steps.length === 0) return reference
  const renamed = [...steps]
  for (let n = 0; n + 1 < steps.length;) {
    const keyword = steps[n]!
    if (keyword === 'properties' || keyword === 'dependentSchemas' || keyword === 'dependencies') {
      renamed[n + 1] = rename(steps[n + 1]!, n === 0)
    }
    const takesAStep =
      schemaMaps.has(keyword) ||
      schemaLists.has(keyword) ||
      keyword === 'dependencies' ||
      (keyword === 'items' && /^\d+$/.test(steps[n + 1]!))
    n += takesAStep ? 2 : 1
  }
  if (renamed.every((step, n) => step === steps[n])) return reference
  return `#/${renamed.map((step) => encodeURI(escapePointer(step)).replaceAll('#', '%23')).join('/')}`
}

function stepsOf(reference: string): readonly string[] | undefined {
  if (reference === '#' || reference === '#/') return reference === '#' ? [] : ['']
  if (!reference.startsWith('#/')) return undefined
  try {
    return decodeURIComponent(reference.slice(2))
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  } catch {
    return undefined
  }
}
