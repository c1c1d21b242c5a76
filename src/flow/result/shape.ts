import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import type { CapabilityKind } from '../tool/selected.ts'

/** What a result is made of, as far as a gate needs to know. */
export interface Shape {
  readonly ok: true
  /** Distinct content types in the order in which they come, at most sixteen. */
  readonly types: readonly string[]
  /** Those among them that no published revision of the protocol knows; they are relayed as they are. */
  readonly unknown: readonly string[]
}

export interface Misshapen {
  readonly ok: false
  /** JSON pointer into the result. */
  readonly at: string
  readonly why: string
}

const TYPES_NAMED = 16
// A type is the server's own word; on the record it may neither be long nor hold anything but a name.
const TYPE_NAME = /^[A-Za-z0-9_./+-]{1,64}$/

/** The list in which each kind of result carries its contents. */
export function listNameOf(kind: CapabilityKind): 'content' | 'messages' | 'contents' {
  return kind === 'tool' ? 'content' : kind === 'prompt' ? 'messages' : 'contents'
}

/**
 * Checks the parts of a result that gates and clients rely on (MCP 2026-07-28, "Tools", "Prompts", "Resources"). Members
 * and content types that it does not know pass, so that a newer server is relayed faithfully.
 *
 * @param allowed The only content types that may pass, where the operator names them.
 */
export function shapeOf(kind: CapabilityKind, value: JsonObject, allowed?: readonly string[]): Shape | Misshapen {
  const isError = member(value, 'isError')
  if (isError !== undefined && isError !== null && typeof isError !== 'boolean')
    return bad('/isError', 'not true or false')
  const resultType = member(value, 'resultType')
  if (resultType !== undefined && resultType !== 'complete') return bad('/resultType', 'not a complete result')

  const name = listNameOf(kind)
  const list = member(value, name)
  if (list === undefined && kind === 'tool' && Object.hasOwn(value, 'structuredContent')) {
    return { ok: true, types: [], unknown: [] }
  }
  if (!Array.isArray(list)) return bad(`/${name}`, 'not a list')

  const types: string[] = []
  const unknown: string[] = []
  for (let n = 0; n < list.length; n++) {
    const found = itemOf(kind, list[n] as Json)
    if ('why' in found) return bad(`/${name}/${n}${found.at}`, found.why)
    if (allowed !== undefined && !allowed.includes(found.type))
      return bad(`/${name}/${n}`, `type ${found.type} is not allowed`)
    if (types.length < TYPES_NAMED && !types.includes(found.type)) {
      types.push(found.type)
      if (!found.known) unknown.push(found.type)
    }
  }
  return { ok: true, types, unknown }
}

type Item = { readonly type: string; readonly known: boolean } | { readonly at: string; readonly why: string }

function itemOf(kind: CapabilityKind, item: Json): Item {
  if (kind === 'tool') return blockOf(item)
  if (!isJsonObject(item)) return { at: '', why: 'not an object' }
  if (kind === 'resource') return resourceOf(item)
  const role = member(item, 'role')
  if (role !== 'user' && role !== 'assistant') return { at: '/role', why: 'neither user nor assistant' }
  const found = blockOf(member(item, 'content') ?? null)
  return 'why' in found ? { at: `/content${found.at}`, why: found.why } : found
}

function blockOf(block: Json): Item {
  if (!isJsonObject(block)) return { at: '', why: 'not an object' }
  const type = member(block, 'type')
  switch (type) {
    case 'text':
      return withTexts(block, type, ['text'])
    case 'image':
    case 'audio':
      return withTexts(block, type, ['data', 'mimeType'])
    case 'resource_link':
      return withTexts(block, type, ['uri'])
    case 'resource': {
      const resource = member(block, 'resource')
      if (!isJsonObject(resource)) return { at: '/resource', why: 'not an object' }
      const found = resourceOf(resource)
      return 'why' in found ? { at: `/resource${found.at}`, why: found.why } : { type, known: true }
    }
    default:
      if (typeof type !== 'string') return { at: '/type', why: 'not text' }
      return { type: TYPE_NAME.test(type) ? type : 'unnamed', known: false }
  }
}

function resourceOf(resource: JsonObject): Item {
  if (typeof member(resource, 'uri') !== 'string') return { at: '/uri', why: 'not text' }
  if (typeof member(resource, 'text') === 'string') return { type: 'text', known: true }
  if (typeof member(resource, 'blob') === 'string') return { type: 'blob', known: true }
  return { at: '', why: 'neither text nor blob' }
}

function withTexts(block: JsonObject, type: string, names: readonly string[]): Item {
  for (const name of names) if (typeof member(block, name) !== 'string') return { at: `/${name}`, why: 'not text' }
  return { type, known: true }
}

function bad(at: string, why: string): Misshapen {
  return { ok: false, at, why }
}

/** Whether a parsed value keeps within a depth. What follows may then recurse over it. Long texts cost nothing. */
export function within(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) if (typeof item === 'object' && !within(item, depth - 1)) return false
    return true
  }
  const object = value as JsonObject
  for (const key in object) {
    const item = object[key]!
    if (typeof item === 'object' && !within(item, depth - 1)) return false
  }
  return true
}
