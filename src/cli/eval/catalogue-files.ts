import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { documentOf } from '../../mcp/catalogue/search/tool-document.ts'
import type { SearchDocument } from '../../mcp/catalogue/search/document.ts'
import type { Query } from '../../mcp/catalogue/search/measure.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { UsageFault } from '../fault.ts'
import { type Line, lines } from './jsonl.ts'

export interface CatalogueFiles {
  readonly documents: readonly SearchDocument[]
  /** The definitions as they stand in the file, by `server/name`. */
  readonly definitions: ReadonlyMap<string, JsonObject>
}

export interface QueryFile {
  readonly queries: readonly Query[]
  /** Requests for which nothing should be called. */
  readonly none: readonly string[]
}

/** Reads a catalogue. Throws a UsageFault that names the file and the line of what cannot be used. */
export function readCatalogue(
  tools: string,
  servers: string | undefined,
  examples: string | undefined,
): CatalogueFiles {
  const beside = join(dirname(tools), 'servers.jsonl')
  const aboutFile = servers ?? (existsSync(beside) ? beside : undefined)
  const about = new Map<string, string>()
  for (const { value } of aboutFile === undefined ? [] : lines(aboutFile)) {
    const said = [textMember(value, 'title'), textMember(value, 'description')].filter((text) => text !== undefined)
    about.set(textMember(value, 'server') ?? '', said.join(' '))
  }
  const requests = new Map<string, readonly string[]>()
  for (const { value, fail } of examples === undefined ? [] : lines(examples)) {
    const list = member(value, 'requests')
    if (!Array.isArray(list)) throw fail('`requests` is not a list')
    requests.set(
      keyOf(value, fail),
      (list as readonly Json[]).filter((one) => typeof one === 'string'),
    )
  }
  const documents: SearchDocument[] = []
  const definitions = new Map<string, JsonObject>()
  for (const { value, fail } of lines(tools)) {
    const key = keyOf(value, fail)
    if (definitions.has(key)) throw fail(`${key} stands in the file twice`)
    const server = textMember(value, 'server')!
    const { server: _, ...definition } = value
    definitions.set(key, definition)
    documents.push(
      documentOf({
        key,
        server,
        name: textMember(value, 'name')!,
        definition,
        about: about.get(server),
        examples: requests.get(key),
      }),
    )
  }
  if (documents.length === 0) throw new UsageFault(`${tools} holds no tool`)
  return { documents, definitions }
}

export function readQueries(file: string): QueryFile {
  const queries: Query[] = []
  const none: string[] = []
  for (const { value, fail, number } of lines(file)) {
    const query = textMember(value, 'query')
    if (query === undefined) throw fail('`query` is missing')
    const mode = textMember(value, 'mode') ?? 'any'
    const id = textMember(value, 'id') ?? String(number)
    const register = textMember(value, 'source') ?? 'all'
    if (mode === 'none') none.push(query)
    else if (mode === 'any') queries.push({ id, query, register, needed: [refs(member(value, 'gold'), fail)] })
    else if (mode === 'all') {
      const groups = member(value, 'groups')
      if (!Array.isArray(groups) || groups.length === 0) throw fail('`groups` is missing')
      queries.push({ id, query, register, needed: (groups as readonly Json[]).map((group) => refs(group, fail)) })
    } else throw fail(`mode ${mode}: expected any, all or none`)
  }
  return { queries, none }
}

function keyOf(value: JsonObject, fail: Line['fail']): string {
  const [server, name] = [textMember(value, 'server'), textMember(value, 'name')]
  if (server === undefined || name === undefined) throw fail('expected `server` and `name`')
  return `${server}/${name}`
}

function refs(list: Json | undefined, fail: Line['fail']): string[] {
  if (!Array.isArray(list) || list.length === 0) throw fail('the list of right tools is missing or empty')
  return (list as readonly Json[]).map((one) => {
    if (!isJsonObject(one)) throw fail('a right tool is an object with `server` and `name`')
    return keyOf(one, fail)
  })
}
