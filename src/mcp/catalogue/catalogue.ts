import { differences } from '../../flow/tool/difference.ts'
import type { ApprovedTool, Catalogue, Difference, Found } from '../../flow/tool/selected.ts'
import type { Target } from '../../flow/proposal/proposal.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Approval, type Wanted, approveIn, quarantineIn } from './approvals.ts'
import { Checks } from './checks.ts'
import { type CatalogueEntry, type CatalogueServer, entryOf, serverOf } from './entries.ts'
import { type CatalogueEvent, DriftWatch } from './events.ts'
import type { ListKind } from './listing.ts'
import { type Lock, readLock, writeLock } from './lock.ts'
import { type Changed, Member, type ServerDeclared } from './member.ts'
import { markedName } from './names.ts'
import type { ProfileSource, Row } from './rows.ts'

export interface CatalogueOptions {
  /** Path of `countersign.lock.yaml`; its folder exists. */
  readonly lock: string
  /** In the order in which they come first where two would be found. */
  readonly servers: readonly ServerDeclared[]
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly profileOf: ProfileSource
  readonly onEvent?: (event: CatalogueEvent) => void
  /** Pause between two readings of a list. 10 s where nothing is said. */
  readonly pollMs?: number
  /** How old a list may be for a call with an effect. 2 s where nothing is said. */
  readonly effectMaxAgeMs?: number
  /** How long one reading of a list may take. 30 s where nothing is said. */
  readonly patienceMs?: number
  readonly now?: () => number
}

const UNKNOWN: Found = Object.freeze({ state: 'unknown' })

/**
 * What all upstreams offer, measured against what was approved. Looking something up is a look into a table; the tables
 * are made again when a list, a connection or an approval changes. Throws LockFault where the lock file cannot be used.
 */
export class LiveCatalogue implements Catalogue {
  /** Resolves when every upstream was listed once, or could not be reached. */
  readonly settled: Promise<void>
  readonly #options: CatalogueOptions
  readonly #members = new Map<string, Member>()
  readonly #drift: DriftWatch
  readonly #checks: Checks
  readonly #listeners = new Set<(what: Changed) => void>()
  #lock: Lock
  #version = 1
  #byKey = new Map<string, Row>()
  #tools = new Map<string, Found>()
  #toolsByServer = new Map<string, Map<string, Found>>()
  #prompts = new Map<string, Found>()

  constructor(options: CatalogueOptions) {
    this.#options = options
    this.#lock = readLock(options.lock)
    this.#drift = new DriftWatch((event) => options.onEvent?.(event))
    this.#checks = new Checks(() => this.#rebuildAll())
    for (const declared of options.servers) this.#take(declared, options.upstreams.get(declared.spec.name))
    this.#index()
    this.settled = Promise.all([...this.#members.values()].map((member) => member.settled)).then(() => {})
  }

  #take(declared: ServerDeclared, upstream: Upstream | undefined): void {
    const { pollMs = 10_000, patienceMs = 30_000, profileOf } = this.#options
    if (upstream === undefined) throw new TypeError(`no upstream for the server ${declared.spec.name}`)
    const member = new Member(declared, upstream, {
      pollMs,
      patienceMs,
      lock: () => this.#lock.get(declared.spec.name),
      profileOf,
      checks: this.#checks,
      onChange: (what, decides) => this.#assemble(member, what, decides),
    })
    this.#members.set(declared.spec.name, member)
  }

  /** Servers that go, and servers that come or come anew. All that is there is judged again, whatever the profiles say now. */
  change(
    gone: readonly string[],
    come: readonly { readonly declared: ServerDeclared; readonly upstream: Upstream }[],
  ): void {
    for (const name of gone) {
      this.#members.get(name)?.listing.close()
      this.#members.delete(name)
    }
    for (const { declared, upstream } of come) this.#take(declared, upstream)
    this.#index()
    this.#version++
    this.#rebuildAll()
    for (const what of ['tools', 'prompts', 'resources'] as const)
      for (const listener of this.#listeners) listener(what)
  }

  get version(): number {
    return this.#version
  }

  find(target: Target): Found {
    switch (target.kind) {
      case 'tool':
        if ('exported' in target) return this.#tools.get(target.exported) ?? UNKNOWN
        return this.#toolsByServer.get(target.server)?.get(target.name) ?? UNKNOWN
      case 'prompt':
        return this.#prompts.get(target.exported) ?? UNKNOWN
      case 'resource':
        return this.#findResource(target.uri)
      default:
        return target satisfies never
    }
  }

  refresh(tool: ApprovedTool, signal: AbortSignal): Promise<void> | undefined {
    if (tool.profile.effect === 'read') return undefined
    const kind: ListKind = tool.kind === 'prompt' ? 'prompts' : tool.kind === 'tool' ? 'tools' : 'resources'
    return this.#members.get(tool.server)?.listing.refresh(kind, this.#options.effectMaxAgeMs ?? 2_000, signal)
  }

  /** Every capability that is listed or was approved, by server in order and then by name. */
  entries(): CatalogueEntry[] {
    return [...this.#byKey.values()].map(entryOf)
  }

  entry(key: string): CatalogueEntry | undefined {
    const row = this.#byKey.get(key)
    return row && entryOf(row)
  }

  /** The whole row, for `tool show`: both definitions, and the profile that holds. */
  show(key: string): Row | undefined {
    return this.#byKey.get(key)
  }

  /** In what the live definition and the server differ from what was approved; from nothing, where nothing was. */
  diff(
    key: string,
  ): { readonly definition: readonly Difference[]; readonly server: readonly Difference[] } | undefined {
    const row = this.#byKey.get(key)
    if (row === undefined) return undefined
    // What cannot be pinned cannot be compared either; the row says why.
    const comparable = row.listed === undefined || row.livePin !== undefined
    const definition = comparable ? differences(row.entry?.definition, row.listed?.definition) : []
    return { definition, server: this.server(row.about.server)?.differences ?? [] }
  }

  servers(): CatalogueServer[] {
    return [...this.#members.values()].map(serverOf)
  }

  server(name: string): CatalogueServer | undefined {
    const member = this.#members.get(name)
    return member && serverOf(member)
  }

  /** Approved capabilities of one kind, also of servers that are not in reach just now. */
  approved(kind: 'tool' | 'prompt'): ApprovedTool[] {
    return [...this.#byKey.values()].flatMap(({ about, tool }) =>
      tool !== undefined && about.kind === kind ? [tool] : [],
    )
  }

  /** Rows of one server that a person approved, and its lists of resources, for what clients are shown. */
  members(): IterableIterator<Member> {
    return this.#members.values()
  }

  /**
   * Approves what the server says now, where that is what the person has seen. The lock file is written before anything
   * becomes callable. A server that is not the approved one is approved again only where its own name is among `wanted`.
   */
  approve(wanted: readonly Wanted[], by: string, now: number): readonly Approval[] {
    return this.#change((lock) => approveIn(lock, this.#members, wanted, this.#checks, by, now))
  }

  /** Takes approvals back. What was approved stays on file and is not callable. */
  quarantine(keys: readonly string[], by: string, now: number, why = ''): readonly Approval[] {
    return this.#change((lock) => quarantineIn(lock, this.#byKey, keys, by, now, why))
  }

  /** Reads the lock file again, where somebody else has changed it. Throws LockFault, and then nothing has changed. */
  reload(): void {
    this.#lock = readLock(this.#options.lock)
    this.#rebuildAll()
  }

  onChanged(listener: (what: Changed) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#checks.close()
    for (const member of this.#members.values()) member.listing.close()
    this.#listeners.clear()
  }

  // From the file, and not from what was read of it once: two approvers may take turns.
  #change(
    make: (lock: Lock) => {
      readonly lock: Lock
      readonly approvals: readonly Approval[]
      readonly events: readonly CatalogueEvent[]
    },
  ) {
    const { lock, approvals, events } = make(readLock(this.#options.lock))
    if (events.length === 0) return approvals
    writeLock(this.#options.lock, lock)
    this.#lock = lock
    for (const event of events) this.#options.onEvent?.(event)
    this.#rebuildAll()
    return approvals
  }

  #findResource(uri: string): Found {
    for (const member of this.#members.values())
      if (member.resources?.lists(uri) === true) return member.resourceRow?.found ?? UNKNOWN
    for (const member of this.#members.values())
      if (member.resources?.matches(uri) === true) return member.resourceRow?.found ?? UNKNOWN
    return UNKNOWN
  }

  #rebuildAll(): void {
    for (const member of this.#members.values()) member.rebuild()
  }

  #assemble(member: Member, what: ReadonlySet<Changed>, decides: boolean): void {
    this.#index()
    if (decides) this.#version++
    this.#drift.look(member.declared.spec.name, member.rows)
    for (const changed of what) for (const listener of this.#listeners) listener(changed)
  }

  #index(): void {
    this.#byKey = new Map()
    this.#tools = new Map()
    this.#prompts = new Map()
    this.#toolsByServer = new Map()
    const holders = this.#holders()
    for (const member of this.#members.values()) {
      const own = new Map<string, Found>()
      this.#toolsByServer.set(member.declared.spec.name, own)
      for (const row of member.rows.values()) {
        const { kind, name } = row.about
        const exported = kind === 'tool' ? this.#tools : kind === 'prompt' ? this.#prompts : undefined
        const kept = exported === undefined || holders.get(claimed(row)) === row ? row : renamed(row)
        exported?.set(kept.exportedName, kept.found)
        this.#byKey.set(row.about.key, kept)
        if (kind === 'tool') own.set(name, kept.found)
      }
    }
  }

  /** Who has each exported name. Only bare names of two servers can meet: what was approved first keeps the name, whoever connects. */
  #holders(): ReadonlyMap<string, Row> {
    const holders = new Map<string, Row>()
    for (const member of this.#members.values())
      for (const row of member.rows.values()) {
        const other = holders.get(claimed(row))
        if (other === undefined || precedes(row, other)) holders.set(claimed(row), row)
      }
    return holders
  }
}

function claimed({ about, exportedName }: Row): string {
  return `${about.kind} ${exportedName}`
}

function precedes(one: Row, other: Row): boolean {
  const [first, second] = [one.entry?.approvedAt ?? 'never', other.entry?.approvedAt ?? 'never']
  return first === second ? one.about.server < other.about.server : first < second
}

function renamed(row: Row): Row {
  const exportedName = markedName(row.about.server, row.about.name, 'bare')
  const tool = row.tool && { ...row.tool, exportedName }
  const found: Found = row.found.state === 'approved' ? { state: 'approved', tool: tool! } : row.found
  return { ...row, exportedName, tool, found }
}

export type { CatalogueEvent } from './events.ts'
export type { Changed, ServerDeclared } from './member.ts'
