import { isUtf8 } from 'node:buffer'
import { isJsonObject, member, textMember, type Json, type JsonObject } from '../../words/json.ts'

/** Request headers of Streamable HTTP (2026-07-28), in lower case. */
export const headerNames = {
  protocolVersion: 'mcp-protocol-version',
  sessionId: 'mcp-session-id',
  method: 'mcp-method',
  name: 'mcp-name',
  parameterPrefix: 'mcp-param-',
} as const

const SENTINEL = '=?base64?'
const SENTINEL_END = '?='

/** A header value for any text: as it is where that is safe, otherwise base64 of its UTF-8 between the sentinels. */
export function headerValue(text: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !isEncoded(text)
  return plain ? text : `${SENTINEL}${Buffer.from(text, 'utf8').toString('base64')}${SENTINEL_END}`
}

/** The text that a header value stands for; undefined where it is encoded and the code is broken. */
export function textOfHeaderValue(value: string): string | undefined {
  if (!isEncoded(value)) return value
  const code = value.slice(SENTINEL.length, -SENTINEL_END.length)
  const bytes = Buffer.from(code, 'base64')
  return bytes.toString('base64') === code && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

function isEncoded(value: string): boolean {
  return (
    value.length >= SENTINEL.length + SENTINEL_END.length && value.startsWith(SENTINEL) && value.endsWith(SENTINEL_END)
  )
}

/** What `Mcp-Name` has to say of a request, before encoding; undefined where the method has none. */
export function namedBy(method: string, params: JsonObject): string | undefined {
  if (method === 'tools/call' || method === 'prompts/get') return textMember(params, 'name')
  if (method === 'tasks/get' || method === 'tasks/update' || method === 'tasks/cancel')
    return textMember(params, 'taskId')
  return method === 'resources/read' ? textMember(params, 'uri') : undefined
}

/** One argument that is repeated as a header because the input schema says `x-mcp-header`. */
export interface MirroredParameter {
  /** Full header name, in lower case. */
  readonly header: string
  readonly path: readonly string[]
}

export type Mirrored =
  | { readonly kind: 'valid'; readonly parameters: readonly MirroredParameter[] }
  /** The definition breaks the rules, and may not be offered where the transport is HTTP (2026-07-28, "x-mcp-header"). */
  | { readonly kind: 'invalid'; readonly why: string }

const ANNOTATION = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const MIRRORED_TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
const HOLD_ONE_SCHEMA =
  'items additionalItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames not if then else contentSchema'.split(
    ' ',
  )
const HOLD_A_LIST = ['items', 'prefixItems', 'oneOf', 'anyOf', 'allOf']
const HOLD_BY_NAME = ['patternProperties', 'dependentSchemas', '$defs', 'definitions']

/** Finds the parameters that an input schema wants mirrored, and every place where it may not say so. */
export function mirroredParameters(inputSchema: JsonObject): Mirrored {
  const parameters: MirroredParameter[] = []
  const seen = new Set<string>()

  /** `path` is undefined where the annotation may not stand. */
  function visit(schema: Json | undefined, path: readonly string[] | undefined): string | undefined {
    if (!isJsonObject(schema)) return undefined
    const name = member(schema, ANNOTATION)
    if (name !== undefined) {
      if (path === undefined || path.length === 0) return 'x-mcp-header stands where only properties may lead'
      const where = path.join('.')
      if (typeof name !== 'string' || !TOKEN.test(name)) return `${where}: the header name is no token`
      if (!MIRRORED_TYPES.includes(member(schema, 'type'))) return `${where}: not a string, an integer or a boolean`
      const header = headerNames.parameterPrefix + name.toLowerCase()
      if (seen.has(header)) return `${where}: the header name is used twice`
      seen.add(header)
      parameters.push({ header, path })
    }
    return within(schema, path)
  }

  function within(schema: JsonObject, path: readonly string[] | undefined): string | undefined {
    const properties = member(schema, 'properties')
    if (isJsonObject(properties)) {
      for (const [key, property] of Object.entries(properties)) {
        const why = visit(property, path && [...path, key])
        if (why !== undefined) return why
      }
    }
    for (const elsewhere of unreachable(schema)) {
      const why = visit(elsewhere, undefined)
      if (why !== undefined) return why
    }
    return undefined
  }

  const why = visit(inputSchema, [])
  return why === undefined ? { kind: 'valid', parameters } : { kind: 'invalid', why }
}

function* unreachable(schema: JsonObject): Generator<Json> {
  for (const keyword of HOLD_ONE_SCHEMA) {
    const held = member(schema, keyword)
    if (isJsonObject(held)) yield held
  }
  for (const keyword of HOLD_A_LIST) {
    const held = member(schema, keyword)
    if (Array.isArray(held)) yield* held as readonly Json[]
  }
  for (const keyword of HOLD_BY_NAME) {
    const held = member(schema, keyword)
    if (isJsonObject(held)) yield* Object.values(held)
  }
}

/** The headers for one call, as a flat list of names and values. A missing argument or null has none. */
export function parameterHeaders(parameters: readonly MirroredParameter[], values: JsonObject): string[] {
  const headers: string[] = []
  for (const { header, path } of parameters) {
    let value: Json | undefined = values
    for (const key of path) value = isJsonObject(value) ? member(value, key) : undefined
    if (typeof value === 'string') headers.push(header, headerValue(value))
    else if (typeof value === 'boolean' || (typeof value === 'number' && Number.isSafeInteger(value))) {
      headers.push(header, String(value))
    }
  }
  return headers
}
