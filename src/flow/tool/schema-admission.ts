import { CanonicalFault, canonical } from '../../words/canonical.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { schemaLimits } from './schema-limits.ts'
import { resolvePointer } from './pointer.ts'

export type Dialect = '2020-12' | 'draft-07'

/** A schema that keeps within the limits, rewritten so that it says nothing but what is to be checked. */
export interface Admitted {
  readonly dialect: Dialect
  /**
   * Known assertions only; every reference leads into `#/definitions`. What is left out (`$async`, `$id`, keywords of
   * one validator) could otherwise make the validator do something else than validate.
   */
  readonly schema: JsonObject | boolean
  /** Whether it uses one of the two `unevaluated` keywords. */
  readonly unevaluated: boolean
}

const ASSERTIONS = new Set([
  'type',
  'enum',
  'const',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'format',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxContains',
  'minContains',
  'maxProperties',
  'minProperties',
  'required',
  'dependentRequired',
])
const ONE = new Set([
  'additionalProperties',
  'additionalItems',
  'items',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies'])
/** These judge the very value that their parent judges, so their costs multiply with nesting. */
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'])

/** The member that marks each schema in the copy; the validator counts its steps by it. */
export const STEP = '$step'

/** Both dialects know this keyword, so that both metaschemas look at what is in it. */
const PLACE = '#/definitions/'

class NotAdmitted extends Error {}

/**
 * Admits a schema that somebody else wrote, or says why not. `use` is what it describes: arguments are always an object.
 */
export function admit(schema: Json, use: 'arguments' | 'result'): Admitted | { readonly refused: string } {
  try {
    const dialect = dialectOf(schema, use)
    const admission = new Admission(schema)
    return { dialect, schema: admission.copied(), unevaluated: admission.unevaluated }
  } catch (fault) {
    if (fault instanceof NotAdmitted) return { refused: fault.message }
    throw fault
  }
}

function dialectOf(schema: Json, use: 'arguments' | 'result'): Dialect {
  if (typeof schema === 'boolean' && use === 'result') return '2020-12'
  if (!isJsonObject(schema)) throw new NotAdmitted('the schema is not an object')
  const type = member(schema, 'type')
  if (
    use === 'arguments' &&
    type !== undefined &&
    type !== 'object' &&
    !(Array.isArray(type) && type.includes('object'))
  ) {
    throw new NotAdmitted('the schema of the arguments does not describe an object')
  }
  checkSize(schema)
  const named = member(schema, '$schema')
  if (named === undefined) return '2020-12'
  if (typeof named === 'string') {
    if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(named)) return '2020-12'
    if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(named)) return 'draft-07'
  }
  throw new NotAdmitted('the schema is written in a dialect other than 2020-12 and draft-07')
}

function checkSize(schema: JsonObject): void {
  try {
    const { length } = canonical(schema, schemaLimits.depth)
    if (length > schemaLimits.bytes) throw new NotAdmitted(`the schema is larger than ${schemaLimits.bytes} bytes`)
  } catch (fault) {
    if (!(fault instanceof CanonicalFault)) throw fault
    throw new NotAdmitted(
      fault.code === 'TOO_DEEP' ? `the schema is nested deeper than ${schemaLimits.depth}` : 'the schema is not JSON',
    )
  }
}

type Copy = { [key: string]: unknown }

class Admission {
  unevaluated = false
  readonly #root: Json
  readonly #rootId: string | undefined
  readonly #dialect: string | undefined
  /** Copies of what references lead to, by the place in the original. */
  readonly #targets = new Map<Json, string>()
  readonly #defs: Copy = {}
  /** In-place schemas of each copy, for the sum of their costs. */
  readonly #inPlace = new Map<Copy, (Copy | string)[]>()
  #references = 0
  #subschemas = 0
  #patterns = 0
  #enumValues = 0

  constructor(root: Json) {
    this.#root = root
    this.#rootId = isJsonObject(root) ? textMember(root, '$id')?.replace(/#$/, '') : undefined
    this.#dialect = isJsonObject(root) ? textMember(root, '$schema') : undefined
  }

  copied(): JsonObject | boolean {
    this.#targets.set(this.#root, `${PLACE}root`)
    const root = this.#copy(this.#root)
    this.#defs['root'] = root
    this.#checkBranching()
    if (typeof root === 'boolean' || this.#references === 0) return root as JsonObject
    return { $ref: `${PLACE}root`, definitions: this.#defs } as JsonObject
  }

  #copy(schema: Json): Copy | boolean {
    if (typeof schema === 'boolean') return schema
    if (!isJsonObject(schema)) throw new NotAdmitted('where a schema should be there is something else')
    if (++this.#subschemas > schemaLimits.subschemas) {
      throw new NotAdmitted(`the schema has more than ${schemaLimits.subschemas} schemas within`)
    }
    this.#checkIdentifiers(schema)
    const copy: Copy = { [STEP]: true }
    const inPlace: (Copy | string)[] = []
    this.#inPlace.set(copy, inPlace)
    for (const [key, value] of Object.entries(schema)) {
      // Several generators write null for "none"; no keyword but these two has a meaning for it.
      if (value === null && key !== 'const' && key !== 'enum') continue
      if (key === '$ref' || key === '$dynamicRef') {
        const target = this.#reference(value)
        copy['$ref'] = target
        inPlace.push(target)
      } else if (ASSERTIONS.has(key)) copy[key] = this.#assertion(key, value)
      else if (LISTS.has(key) && Array.isArray(value)) {
        const items = (value as readonly Json[]).map((item) => this.#copy(item))
        copy[key] = items
        if (IN_PLACE.has(key)) inPlace.push(...items.filter(isCopy))
      } else if (ONE.has(key)) {
        this.unevaluated ||= key.startsWith('unevaluated')
        const one = this.#copy(value)
        copy[key] = one
        if (IN_PLACE.has(key) && isCopy(one)) inPlace.push(one)
      } else if (MAPS.has(key)) copy[key] = this.#map(key, value, inPlace)
      else if (LISTS.has(key)) throw new NotAdmitted(`${key} is not an array`)
    }
    return copy
  }

  #map(key: string, value: Json, inPlace: (Copy | string)[]): Copy {
    if (!isJsonObject(value)) throw new NotAdmitted(`${key} is not an object`)
    const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
      if (key === 'patternProperties') this.#pattern(name)
      if (key === 'dependencies' && Array.isArray(item)) return [name, item]
      const copy = this.#copy(item)
      if (IN_PLACE.has(key) && isCopy(copy)) inPlace.push(copy)
      return [name, copy]
    })
    // Object.fromEntries makes own members of all names, `__proto__` too.
    return Object.fromEntries(entries)
  }

  #assertion(key: string, value: Json): Json {
    if (key === 'pattern') this.#pattern(value)
    if (key === 'enum' && Array.isArray(value) && (this.#enumValues += value.length) > schemaLimits.enumValues) {
      throw new NotAdmitted(`the schema lists more than ${schemaLimits.enumValues} values`)
    }
    return value
  }

  #pattern(pattern: Json): void {
    if (++this.#patterns > schemaLimits.patterns)
      throw new NotAdmitted(`the schema has more than ${schemaLimits.patterns} patterns`)
    if (typeof pattern === 'string' && pattern.length > schemaLimits.patternLength) {
      throw new NotAdmitted(`a pattern is longer than ${schemaLimits.patternLength} characters`)
    }
  }

  // A schema within the schema that has an id or a dialect of its own would change what its references mean.
  #checkIdentifiers(schema: JsonObject): void {
    if (schema === this.#root) return
    const id = member(schema, '$id')
    if (typeof id === 'string' && !id.startsWith('#'))
      throw new NotAdmitted('a schema within the schema has an $id of its own')
    const dialect = member(schema, '$schema')
    if (typeof dialect === 'string' && dialect !== this.#dialect)
      throw new NotAdmitted('a schema within the schema names another dialect')
  }

  #reference(reference: Json): string {
    if (typeof reference !== 'string') throw new NotAdmitted('a reference is not a text')
    const local =
      this.#rootId && reference.startsWith(this.#rootId) ? reference.slice(this.#rootId.length) || '#' : reference
    if (!local.startsWith('#')) throw new NotAdmitted('a reference leads out of the schema; nothing is ever fetched')
    const target = this.#find(local.slice(1))
    if (target === undefined || (!isJsonObject(target) && typeof target !== 'boolean')) {
      throw new NotAdmitted('a reference leads to nothing in the schema')
    }
    this.#references++
    const known = this.#targets.get(target)
    if (known !== undefined) return known
    const name = `r${this.#references}`
    const place = PLACE + name
    // A boolean is no identity, so each reference to one gets a place of its own.
    if (isJsonObject(target)) this.#targets.set(target, place)
    this.#defs[name] = this.#copy(target)
    return place
  }

  #find(fragment: string): Json | undefined {
    let decoded: string
    try {
      decoded = decodeURIComponent(fragment)
    } catch {
      return undefined
    }
    // `*` is this product's own addition to pointers; in a reference it is a name like any other.
    if (decoded === '' || decoded.startsWith('/')) {
      return decoded.split('/').includes('*') ? undefined : resolvePointer(this.#root, decoded).values[0]
    }
    const found = anchored(this.#root, decoded)
    if (found.length > 1) throw new NotAdmitted('an anchor stands at two places')
    return found[0]
  }

  #checkBranching(): void {
    const costs = new Map<Copy, number>()
    const open = new Set<Copy>()
    const cost = (copy: Copy): number => {
      const known = costs.get(copy)
      if (known !== undefined) return known
      if (open.has(copy)) throw new NotAdmitted('the schema refers to itself without ever going deeper into the value')
      open.add(copy)
      let sum = 1
      for (const part of this.#inPlace.get(copy) ?? []) {
        const target = typeof part === 'string' ? this.#defs[part.slice(PLACE.length)] : part
        if (isCopy(target)) sum += cost(target)
      }
      open.delete(copy)
      if (sum > schemaLimits.branching) {
        throw new NotAdmitted(`the schema would judge one value in more than ${schemaLimits.branching} ways`)
      }
      costs.set(copy, sum)
      return sum
    }
    for (const copy of this.#inPlace.keys()) cost(copy)
  }
}

function isCopy(copy: unknown): copy is Copy {
  return typeof copy === 'object' && copy !== null
}

function anchored(root: Json, name: string): Json[] {
  const found: Json[] = []
  const todo: Json[] = [root]
  for (let here = todo.pop(); here !== undefined; here = todo.pop()) {
    if (Array.isArray(here)) todo.push(...(here as readonly Json[]).filter(isComposite))
    else if (isJsonObject(here)) {
      const names = [
        member(here, '$anchor'),
        member(here, '$dynamicAnchor'),
        textMember(here, '$id')?.replace(/^#/, ''),
      ]
      if (names.includes(name)) found.push(here)
      todo.push(...Object.values(here).filter(isComposite))
    }
  }
  return found
}

function isComposite(value: Json): boolean {
  return typeof value === 'object' && value !== null
}
