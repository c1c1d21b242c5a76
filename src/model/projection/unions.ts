import { isDeepStrictEqual } from 'node:util'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { resolve } from './references.ts'
import { Unprojectable, without } from './subschemas.ts'

export interface Merged {
  readonly schema: JsonObject
  /** What the merged schema no longer says. */
  readonly alternatives: readonly Alternatives[]
}

/** Sets of arguments of which one is needed. */
export interface Alternatives {
  readonly keyword: 'anyOf' | 'oneOf'
  readonly sets: readonly (readonly string[])[]
}

const UNIONS = ['allOf', 'anyOf', 'oneOf'] as const
const MAX_NESTING = 8

/**
 * One object schema in place of a union at the root: every property of every branch, required only where all branches
 * require it. It allows more than the original, which is what arguments are judged against later.
 */
export function mergeRootUnions(root: JsonObject): Merged {
  const alternatives: Alternatives[] = []
  const schema = merge(root, root, alternatives, 0)
  return { schema, alternatives }
}

/** A root that is only a reference is replaced by what it leads to; what stood beside the reference is kept. */
export function followRoot(schema: JsonObject, root: JsonObject): JsonObject {
  let current = schema
  for (let hops = 0; typeof member(current, '$ref') === 'string'; hops++) {
    if (hops === MAX_NESTING) throw new Unprojectable('', 'the root is a chain of references')
    const target = resolve(root, textMember(current, '$ref')!)
    if (!isJsonObject(target)) throw new Unprojectable('', 'the root refers to no object schema')
    current = conjoin(without(current, '$ref'), target)
  }
  return current
}

function merge(schema: JsonObject, root: JsonObject, found: Alternatives[], nesting: number): JsonObject {
  if (nesting > MAX_NESTING) throw new Unprojectable('', 'unions nested too deep at the root')
  let merged = without(schema, ...UNIONS)
  for (const keyword of UNIONS) {
    const branches = member(schema, keyword)
    if (branches === undefined) continue
    if (!Array.isArray(branches)) throw new Unprojectable(`/${keyword}`, 'not a list of schemas')
    const objects: JsonObject[] = []
    for (const branch of branches as readonly Json[]) {
      if (branch === true && keyword === 'allOf') continue
      if (!isJsonObject(branch)) throw new Unprojectable(`/${keyword}`, 'a branch that is no object schema')
      const flat = merge(followRoot(branch, root), root, found, nesting + 1)
      if (describesObject(flat)) objects.push(flat)
      else if (keyword === 'allOf') throw new Unprojectable('/allOf', 'the root is not an object')
    }
    if (keyword === 'allOf') for (const object of objects) merged = conjoin(merged, object)
    else {
      if (objects.length === 0) throw new Unprojectable(`/${keyword}`, 'no branch of the root is an object')
      const sets = new Map(objects.map((object) => requiredOf(object).toSorted()).map((set) => [set.join('\n'), set]))
      if (sets.size > 1) found.push({ keyword, sets: [...sets.values()] })
      merged = conjoin(merged, alternate(objects))
    }
  }
  return merged
}

function describesObject(schema: JsonObject): boolean {
  const type = member(schema, 'type')
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

/** Both hold. Where both describe a property differently, both descriptions are kept for it. */
function conjoin(one: JsonObject, other: JsonObject): JsonObject {
  const properties = new Map<string, Json>(Object.entries(propertiesOf(one)))
  for (const [name, schema] of Object.entries(propertiesOf(other))) {
    const known = properties.get(name)
    if (known === undefined) properties.set(name, schema)
    else if (!isDeepStrictEqual(known, schema)) properties.set(name, { allOf: [known, schema] })
  }
  const required = new Set([...requiredOf(one), ...requiredOf(other)])
  return { ...other, ...one, properties: Object.fromEntries(properties), required: [...required] }
}

/** One of them holds. */
function alternate(branches: readonly JsonObject[]): JsonObject {
  const variants = new Map<string, Json[]>()
  for (const branch of branches) {
    for (const [name, schema] of Object.entries(propertiesOf(branch))) {
      const known = variants.get(name)
      if (known === undefined) variants.set(name, [schema])
      else if (!known.some((variant) => isDeepStrictEqual(variant, schema))) known.push(schema)
    }
  }
  const properties = [...variants].map(([name, schemas]): [string, Json] => [
    name,
    schemas.length === 1 ? schemas[0]! : { anyOf: schemas },
  ])
  const required = branches
    .map((branch) => new Set(requiredOf(branch)))
    .reduce((common, names) => common.intersection(names))
  const closed = branches.every((branch) => member(branch, 'additionalProperties') === false)
  return {
    properties: Object.fromEntries(properties),
    required: [...required],
    ...(closed ? { additionalProperties: false } : {}),
  }
}

export function propertiesOf(schema: JsonObject): JsonObject {
  const properties = member(schema, 'properties')
  return isJsonObject(properties) ? properties : {}
}

function requiredOf(schema: JsonObject): readonly string[] {
  const required = member(schema, 'required')
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : []
}
