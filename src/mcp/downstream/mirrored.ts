import type { IncomingHttpHeaders } from 'node:http'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { type MirroredParameter, mirroredParameters, textOfHeaderValue } from '../wire/headers.ts'
import { one } from './posted.ts'

type ByTool = ReadonlyMap<string, readonly MirroredParameter[]>

// The list that a client was shown says what it has to mirror. A list is read once, and most have no such tool.
const known = new WeakMap<Buffer, ByTool>()
const NONE: ByTool = new Map()

/**
 * Compares the `Mcp-Param-*` headers of a call with its arguments (2026-07-28, "x-mcp-header"). Answers what is wrong.
 * `tools` is the list as the caller is shown it.
 */
export function mirrorFault(tools: Buffer, params: JsonObject, headers: IncomingHttpHeaders): string | undefined {
  let byTool = known.get(tools)
  if (byTool === undefined) known.set(tools, (byTool = readList(tools)))
  if (byTool.size === 0) return undefined
  const parameters = byTool.get(textMember(params, 'name') ?? '')
  if (parameters === undefined) return undefined
  const given = member(params, 'arguments')
  for (const { header, path } of parameters) {
    let value: Json | undefined = given
    for (const key of path) value = isJsonObject(value) ? member(value, key) : undefined
    const fault = compare(header, value, one(headers, header))
    if (fault !== undefined) return fault
  }
  return undefined
}

function readList(tools: Buffer): ByTool {
  if (!tools.includes('"x-mcp-header"')) return NONE
  const byTool = new Map<string, readonly MirroredParameter[]>()
  for (const tool of JSON.parse(tools.toString('utf8')) as readonly JsonObject[]) {
    const schema = member(tool, 'inputSchema')
    const mirrored = isJsonObject(schema) ? mirroredParameters(schema) : undefined
    if (mirrored?.kind === 'valid' && mirrored.parameters.length > 0) {
      byTool.set(textMember(tool, 'name') ?? '', mirrored.parameters)
    }
  }
  return byTool
}

function compare(header: string, value: Json | undefined, sent: string | undefined): string | undefined {
  const isScalar = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
  if (!isScalar) return sent === undefined ? undefined : `${header} stands for no argument`
  if (sent === undefined) return `${header} is missing`
  const text = textOfHeaderValue(sent)
  if (text === undefined) return `${header} is not encoded as it says`
  const same = typeof value === 'number' ? isNumber(text) && Number(text) === value : text === String(value)
  return same ? undefined : `${header} differs from the argument`
}

function isNumber(text: string): boolean {
  return /^-?\d{1,17}(?:\.0+)?$/.test(text)
}
