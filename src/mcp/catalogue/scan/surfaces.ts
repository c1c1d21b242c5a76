import { type Json, type JsonObject, isJsonObject } from '../../../words/json.ts'

/** A text that a model reads, and where in the definition it stands. */
export interface Surface {
  readonly at: string
  readonly kind:
    | 'name'
    | 'title'
    | 'description'
    | 'parameter'
    | 'enum'
    | 'default'
    | 'example'
    | 'output'
    | 'annotation'
    | 'other'
  readonly text: string
}

const TEXTS = 2_000
const DEPTH = 40

/** Every text of a definition, by JSON pointer: an order can stand in any of them, and a reader of descriptions sees few. */
export function surfacesOf(definition: JsonObject): readonly Surface[] {
  const found: Surface[] = []
  walk(definition, '', DEPTH, (at, text) => {
    if (found.length < TEXTS) found.push({ at, kind: kindOf(at), text })
  })
  return found
}

function walk(value: Json, at: string, depth: number, visit: (at: string, text: string) => void): void {
  if (typeof value === 'string') return visit(at, value)
  if (depth === 0 || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [n, item] of (value as readonly Json[]).entries()) walk(item, `${at}/${n}`, depth - 1, visit)
    return
  }
  for (const [name, item] of Object.entries(value as JsonObject)) {
    const here = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    // The name of a parameter is read like a text. One that is a sentence is one.
    if (at.endsWith('/properties')) visit(here, name)
    walk(item, here, depth - 1, visit)
  }
}

function kindOf(at: string): Surface['kind'] {
  if (at === '/name') return 'name'
  if (at === '/title') return 'title'
  if (at === '/description') return 'description'
  if (at.startsWith('/outputSchema')) return 'output'
  if (at.startsWith('/annotations')) return 'annotation'
  if (/\/(?:enum\/\d+|const)$/.test(at)) return 'enum'
  if (at.endsWith('/default')) return 'default'
  if (/\/examples?(?:\/\d+)?$/.test(at)) return 'example'
  return at.startsWith('/inputSchema') ? 'parameter' : 'other'
}

/** The parameters of a tool, down to the ones inside objects and lists, with the schema of each. */
export function parametersOf(definition: JsonObject): ReadonlyArray<{
  readonly at: string
  readonly name: string
  readonly schema: JsonObject
  readonly required: boolean
}> {
  const found: { at: string; name: string; schema: JsonObject; required: boolean }[] = []
  const look = (schema: Json | undefined, at: string, depth: number): void => {
    if (depth === 0 || !isJsonObject(schema) || found.length >= TEXTS) return
    const needed = schema['required']
    const properties = schema['properties']
    if (isJsonObject(properties)) {
      for (const [name, inner] of Object.entries(properties)) {
        const here = `${at}/properties/${name}`
        const required = Array.isArray(needed) && needed.includes(name)
        if (isJsonObject(inner)) found.push({ at: here, name, schema: inner, required })
        look(inner, here, depth - 1)
      }
    }
    look(schema['items'], `${at}/items`, depth - 1)
  }
  look(definition['inputSchema'], '/inputSchema', 12)
  return found
}
