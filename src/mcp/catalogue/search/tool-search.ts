import type { Principal } from '../../../flow/principal/principal.ts'
import type { ApprovedTool, Visibility } from '../../../flow/tool/selected.ts'
import { member, textMember } from '../../../words/json.ts'
import { confidenceOf } from './confidence.ts'
import { declarationOf } from './declaration.ts'
import { type Embedder, Meanings } from './embedder.ts'
import { type Mask, SearchIndex } from './index.ts'
import { documentOf } from './tool-document.ts'

/** What is searched: everything that is approved, also of servers that are not in reach just now. */
export interface Searched {
  approved(kind: 'tool'): readonly ApprovedTool[]
  onChanged(listener: (what: 'tools' | 'prompts' | 'resources') => void): () => void
}

export interface Wish {
  readonly request: string
  /** At most that many tools; 3 where nothing is said, and never more than `MOST_MATCHES`. */
  readonly limit?: number | undefined
  /** `declaration`: one TypeScript line a tool. `schema`: the whole approved definition. */
  readonly detail?: 'name' | 'declaration' | 'schema' | undefined
  /** Tools of that server only. */
  readonly server?: string | undefined
  /** What the answer may cost, estimated as bytes / 4. */
  readonly tokens?: number | undefined
  /** Matches are wanted even where none is likely. */
  readonly unsure?: boolean | undefined
}

export interface Match {
  /** `SERVER/TOOL`, and the name by which it is called. */
  readonly key: string
  readonly exportedName: string
  readonly server: string
  readonly score: number
  /** In the detail that was asked for; shorter where the answer would have become too large. */
  readonly text: string
}

export interface SearchAnswer {
  readonly matches: readonly Match[]
  /** Tools that the asker may see. */
  readonly searched: number
  readonly confidence: number
  readonly floor: number
  readonly margin: number
  /** Why nothing is shown, or why what is shown is a guess. */
  readonly why?: string
  /** Matches that were left out, since the answer would have become too large. */
  readonly left: number
}

export const MOST_MATCHES = 20
const USUAL_MATCHES = 3
const USUAL_TOKENS = 800
/** Principals whose view of the index is kept. */
const KEPT = 256

interface View {
  readonly policy: string
  readonly mask: Mask
}

/** The catalogue as one principal may search it. Follows every change of a list, an approval or a policy. */
export class ToolSearch {
  readonly #catalogue: Searched
  readonly #visibility: Visibility & { readonly version: string }
  readonly #index = new SearchIndex()
  readonly #tools = new Map<string, ApprovedTool>()
  readonly #views = new Map<string, View>()
  readonly #meanings: Meanings | undefined
  readonly #stop: () => void
  #stale = true

  constructor(catalogue: Searched, visibility: Visibility & { readonly version: string }, embedder?: Embedder) {
    this.#catalogue = catalogue
    this.#visibility = visibility
    this.#meanings = embedder && new Meanings(embedder)
    this.#stop = catalogue.onChanged((what) => {
      if (what === 'tools') this.#stale = true
    })
  }

  async search(principal: Principal, wish: Wish, signal: AbortSignal): Promise<SearchAnswer> {
    const mask = this.#viewOf(principal).mask
    const limit = Math.max(1, Math.min(MOST_MATCHES, wish.limit ?? USUAL_MATCHES))
    const within = wish.server === undefined ? mask : this.#index.mask((key) => this.#isOf(key, wish.server!, mask))
    const found = this.#index.search(wish.request, this.#meanings === undefined ? limit : 100, within)
    // Judged before meanings are mixed in: their scores say how near a text is, and not whether it is what was meant.
    const { value, floor, margin, why } = confidenceOf(wish.request, found, within.size)
    const about = { searched: within.size, confidence: value, floor, margin, ...(why === undefined ? {} : { why }) }
    if (why !== undefined && wish.unsure !== true) return { ...about, matches: [], left: 0 }
    // The tools may change while a meaning is looked up; what is shown is what was ranked.
    const tools = new Map(found.hits.map(({ key }) => [key, this.#tools.get(key)!]))
    const hits = (await this.#meanings?.fused(wish.request, found.hits, signal)) ?? found.hits
    return { ...about, ...capped(hits.slice(0, limit), tools, wish) }
  }

  /** Approved definitions by SERVER/TOOL or by the name under which they are called. What may not be seen is not there. */
  describe(principal: Principal, names: readonly string[]): ApprovedTool[] {
    const { allowed } = this.#viewOf(principal).mask
    const wanted = new Set(names)
    return [...this.#tools.values()].filter(
      ({ key, exportedName }) => (wanted.has(key) || wanted.has(exportedName)) && allowed[this.#index.slot(key)!] === 1,
    )
  }

  close(): void {
    this.#stop()
    this.#views.clear()
  }

  #isOf(key: string, server: string, mask: Mask): boolean {
    return this.#tools.get(key)?.server === server && mask.allowed[this.#index.slot(key)!] === 1
  }

  #viewOf(principal: Principal): View {
    if (this.#stale) this.#follow()
    const policy = this.#visibility.version
    const { tenant, id, kind, groups } = principal
    const owner = JSON.stringify([tenant, id, kind, groups])
    const known = this.#views.get(owner)
    if (known !== undefined && known.policy === policy && known.mask.version === this.#index.version) return known
    this.#views.delete(owner)
    if (this.#views.size >= KEPT) this.#views.delete(this.#views.keys().next().value!)
    const mask = this.#index.mask((key) => this.#visibility.sees(principal, this.#tools.get(key)!))
    const view = { policy, mask }
    this.#views.set(owner, view)
    return view
  }

  /** Only what changed is indexed anew: the catalogue keeps the object of a tool about which nothing changed. */
  #follow(): void {
    const listed = new Map(this.#catalogue.approved('tool').map((tool) => [tool.key, tool]))
    for (const key of this.#tools.keys()) {
      if (listed.has(key)) continue
      this.#tools.delete(key)
      this.#index.remove(key)
    }
    for (const [key, tool] of listed) {
      if (this.#tools.get(key) === tool) continue
      this.#tools.set(key, tool)
      const { server, name, definition, profile } = tool
      const document = documentOf({ key, server, name, definition, examples: profile.examples })
      this.#index.add(document)
      this.#meanings?.learn(document)
    }
    this.#meanings?.forget((key) => !listed.has(key))
    this.#stale = false
  }
}

function capped(
  hits: readonly { readonly key: string; readonly score: number }[],
  tools: ReadonlyMap<string, ApprovedTool>,
  { detail = 'declaration', tokens = USUAL_TOKENS }: Wish,
): Pick<SearchAnswer, 'matches' | 'left'> {
  const matches: Match[] = []
  let room = tokens * 4
  for (const { key, score } of hits) {
    const tool = tools.get(key)!
    const { exportedName, server } = tool
    const whole = textOf(tool, detail)
    // One tool with a huge schema shall not eat what was saved: it is named, and can be asked for by itself.
    const text = Buffer.byteLength(whole) <= room ? whole : exportedName
    if (Buffer.byteLength(text) > room) break
    room -= Buffer.byteLength(text)
    matches.push({ key, exportedName, server, score, text })
  }
  return { matches, left: hits.length - matches.length }
}

export function textOf(tool: ApprovedTool, detail: 'name' | 'declaration' | 'schema'): string {
  const { exportedName, definition } = tool
  switch (detail) {
    case 'name':
      return exportedName
    case 'declaration': {
      const description = textMember(definition, 'description') ?? ''
      return declarationOf({ name: exportedName, description, inputSchema: member(definition, 'inputSchema') })
    }
    case 'schema':
      return JSON.stringify({ ...definition, name: exportedName })
    default:
      return detail satisfies never
  }
}
