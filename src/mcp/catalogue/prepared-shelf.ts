import type { Principal } from '../../flow/principal/principal.ts'
import type { ApprovedTool, Visibility } from '../../flow/tool/selected.ts'
import { canonical } from '../../words/canonical.ts'
import { type JsonObject, textMember } from '../../words/json.ts'
import type { Changed, LiveCatalogue } from './catalogue.ts'
import type { Member } from './member.ts'
import type { Shelf, ShelfList } from './shelf.ts'

/** Principals whose lists are kept ready; one that was not here for the longest time is forgotten first. */
const KEPT = 256

interface Prepared {
  readonly epoch: number
  readonly policy: string
  readonly lists: Map<ShelfList, Buffer>
  instructions: string | undefined
}

/** Makes each list once for every principal, and again only when the catalogue or the policies change. */
export class PreparedShelf implements Shelf {
  readonly #catalogue: LiveCatalogue
  readonly #visibility: Visibility & { readonly version: string }
  readonly #prepared = new Map<string, Prepared>()
  readonly #texts = new WeakMap<ApprovedTool, string>()
  #epoch = 0

  constructor(catalogue: LiveCatalogue, visibility: Visibility & { readonly version: string }) {
    this.#catalogue = catalogue
    this.#visibility = visibility
    catalogue.onChanged(() => void this.#epoch++)
  }

  list(principal: Principal, what: ShelfList): Buffer {
    const { lists } = this.#of(principal)
    let list = lists.get(what)
    if (list === undefined) {
      list = Buffer.from(`[${this.#items(principal, what).join(',')}]`, 'utf8')
      lists.set(what, list)
    }
    return list
  }

  instructions(principal: Principal): string {
    const prepared = this.#of(principal)
    prepared.instructions ??= [...this.#catalogue.members()]
      .map((member) => this.#said(principal, member))
      .filter((text) => text !== '')
      .join('\n\n')
    return prepared.instructions
  }

  onChanged(listener: (what: Changed) => void): () => void {
    return this.#catalogue.onChanged(listener)
  }

  #of(principal: Principal): Prepared {
    const { tenant, id, kind, groups } = principal
    const key = `${tenant}\u0000${id}\u0000${kind}\u0000${groups.join('\u0000')}`
    const known = this.#prepared.get(key)
    if (known !== undefined && known.epoch === this.#epoch && known.policy === this.#visibility.version) return known
    if (known !== undefined) this.#prepared.delete(key)
    else if (this.#prepared.size >= KEPT) this.#prepared.delete(this.#prepared.keys().next().value!)
    const made: Prepared = {
      epoch: this.#epoch,
      policy: this.#visibility.version,
      lists: new Map(),
      instructions: undefined,
    }
    this.#prepared.set(key, made)
    return made
  }

  #items(principal: Principal, what: ShelfList): string[] {
    if (what === 'resources' || what === 'resourceTemplates') return this.#resources(principal, what)
    const kind = what === 'tools' ? 'tool' : 'prompt'
    return this.#catalogue
      .approved(kind)
      .filter((tool) => this.#visibility.sees(principal, tool))
      .toSorted((one, other) => (one.exportedName < other.exportedName ? -1 : 1))
      .map((tool) => this.#text(tool))
  }

  #text(tool: ApprovedTool): string {
    const known = this.#texts.get(tool)
    if (known !== undefined) return known
    const text = canonical({ ...tool.definition, name: tool.exportedName })
    this.#texts.set(tool, text)
    return text
  }

  /** Of two servers that list the same URI the one that stands first is read, and so its entry is the one that is shown. */
  #resources(principal: Principal, what: 'resources' | 'resourceTemplates'): string[] {
    const shown = new Map<string, string>()
    const key = what === 'resources' ? 'uri' : 'uriTemplate'
    for (const { resources, resourceRow } of this.#catalogue.members()) {
      if (resources === undefined || resourceRow?.tool === undefined) continue
      if (!this.#visibility.sees(principal, resourceRow.tool)) continue
      for (const item of what === 'resources' ? resources.resources : resources.templates) {
        const uri = textMember(item, key)!
        const text = shown.has(uri) ? undefined : textOf(item)
        if (text !== undefined) shown.set(uri, text)
      }
    }
    return [...shown.keys()].sort().map((uri) => shown.get(uri)!)
  }

  #said(principal: Principal, { declared, lock, rows }: Member): string {
    if (lock?.instructions === undefined || lock.instructions === '') return ''
    // A server that changed has no approved tool, and then its old instructions are of no use either.
    const seen = [...rows.values()].some(({ tool }) => tool !== undefined && this.#visibility.sees(principal, tool))
    return seen ? `# ${declared.spec.name}\n\n${lock.instructions}` : ''
  }
}

function textOf(item: JsonObject): string | undefined {
  try {
    return canonical(item)
  } catch {
    // What has no canonical form is not shown; the other resources are not to blame for it.
    return undefined
  }
}
