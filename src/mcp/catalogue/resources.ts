import { type JsonObject, textMember } from '../../words/json.ts'
import { uriMatcher } from './uri-template.ts'

/** Templates of one server that a URI is compared with. */
const TEMPLATES = 100

/** The resources that one server lists, and the URIs that its templates stand for. */
export class ResourceMap {
  readonly resources: readonly JsonObject[]
  readonly templates: readonly JsonObject[]
  readonly #uris = new Set<string>()
  readonly #matchers: ((uri: string) => boolean)[] = []

  constructor(resources: readonly JsonObject[], templates: readonly JsonObject[]) {
    this.resources = resources.filter((resource) => textMember(resource, 'uri') !== undefined)
    this.templates = templates.filter((template) => textMember(template, 'uriTemplate') !== undefined)
    for (const resource of this.resources) this.#uris.add(textMember(resource, 'uri')!)
    for (const template of this.templates.slice(0, TEMPLATES)) {
      const matcher = uriMatcher(textMember(template, 'uriTemplate')!)
      if (matcher !== undefined) this.#matchers.push(matcher)
    }
  }

  lists(uri: string): boolean {
    return this.#uris.has(uri)
  }

  matches(uri: string): boolean {
    return this.#matchers.some((matches) => matches(uri))
  }
}
