import { type JsonObject, textMember } from '../../words/json.ts'
import { uriMatcher } from './uri-template.ts'

/** Templates of one server that a URI is compared with. */
const TEMPLATES = 100

/** The resources that one server lists, and the URIs that its templates stand for. */
export class ResourceMap {
  readonly resources: readonly JsonObject[]
  readonly templates: readonly JsonObject[]
  readonly #uris = new Set<string>()
  readonly #templateTexts: ReadonlySet<string>
  readonly #matchers: ((uri: string) => boolean)[] = []

  constructor(resources: readonly JsonObject[], templates: readonly JsonObject[]) {
    this.resources = resources.filter((resource) => textMember(resource, 'uri') !== undefined)
    this.templates = templates.filter((template) => textMember(template, 'uriTemplate') !== undefined)
    this.#templateTexts = new Set(this.templates.map((template) => textMember(template, 'uriTemplate')!))
    for (const resource of this.resources) this.#uris.add(textMember(resource, 'uri')!)
    for (const template of this.templates.slice(0, TEMPLATES)) {
      const matcher = uriMatcher(textMember(template, 'uriTemplate')!)
      if (matcher !== undefined) this.#matchers.push(matcher)
    }
  }

  hasTemplate(uriTemplate: string): boolean {
    return this.#templateTexts.has(uriTemplate)
  }

  lists(uri: string): boolean {
    return this.#uris.has(uri)
  }

  matches(uri: string): boolean {
    return this.#matchers.some((matches) => matches(uri))
  }
}
