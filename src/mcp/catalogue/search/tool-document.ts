import { type JsonObject, isJsonObject, member, textMember } from '../../../words/json.ts'
import type { Parameter, SearchDocument } from './document.ts'

export interface Tool {
  readonly key: string
  readonly server: string
  readonly name: string
  /** As in `tools/list`. */
  readonly definition: JsonObject
  /** Title and description of its server. */
  readonly about?: string | undefined
  readonly examples?: readonly string[] | undefined
}

/** Parameters that are looked at; machine-made schemas may hold thousands. */
const MOST = 40

/** What of a definition is looked up. Only what a person approved gets here. */
export function documentOf({ key, server, name, definition, about, examples }: Tool): SearchDocument {
  const title = textMember(definition, 'title')
  return {
    key,
    server,
    name,
    description: textMember(definition, 'description') ?? '',
    parameters: parametersOf(definition),
    ...(title === undefined ? {} : { title }),
    ...(about === undefined ? {} : { about }),
    ...(examples === undefined ? {} : { examples }),
  }
}

function parametersOf(definition: JsonObject): Parameter[] {
  const schema = member(definition, 'inputSchema')
  const properties = isJsonObject(schema) ? member(schema, 'properties') : undefined
  if (!isJsonObject(properties)) return []
  const found: Parameter[] = []
  for (const name of Object.keys(properties).slice(0, MOST)) {
    const property = properties[name]
    const description = isJsonObject(property) ? textMember(property, 'description') : undefined
    found.push(description === undefined ? { name } : { name, description })
  }
  return found
}
