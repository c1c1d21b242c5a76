import { instructionsDigest, pinOf } from '../../flow/tool/definition.ts'
import type { Digest } from '../../words/digest.ts'
import type { Checks } from './checks.ts'
import type { CatalogueEvent } from './events.ts'
import type { Lock, LockEntry, LockServer } from './lock.ts'
import type { Member } from './member.ts'
import { type Row, keyOf } from './rows.ts'

/** What a person approves: the key of a capability, or the name of a server for the server itself. */
export interface Wanted {
  readonly key: string
  /** The live pin that the person has seen; where the server says something else by now, nothing is approved. */
  readonly pin?: string
}

export interface Approval {
  readonly key: string
  readonly outcome: 'done' | 'unchanged' | 'refused'
  readonly why?: string
}

export interface Changed {
  readonly lock: Lock
  readonly approvals: readonly Approval[]
  readonly events: readonly CatalogueEvent[]
}

type Draft = LockServer & { tools: Map<string, LockEntry>; prompts: Map<string, LockEntry> }

/** A lock in which what is wanted is approved, as far as it may be. Nothing is written. */
export function approveIn(
  lock: Lock,
  members: ReadonlyMap<string, Member>,
  wanted: readonly Wanted[],
  checks: Checks,
  by: string,
  now: number,
): Changed {
  const approver = new Approver(lock, members, checks, by, now)
  // Servers first: whoever approves a server and its tools in one go means the tools of that server.
  const approvals = new Map<Wanted, Approval>()
  for (const one of wanted) if (members.has(serverNamed(one.key))) approvals.set(one, approver.server(one.key))
  for (const one of wanted) if (!approvals.has(one)) approvals.set(one, approver.capability(one))
  return { lock: approver.lock, approvals: wanted.map((one) => approvals.get(one)!), events: approver.events }
}

/** Reading resources is approved with the server, since it has no definition of its own. */
function serverNamed(key: string): string {
  return key.endsWith('/resources/read') ? key.slice(0, -'/resources/read'.length) : key
}

class Approver {
  readonly lock: Map<string, Draft>
  readonly events: CatalogueEvent[] = []
  readonly #members: ReadonlyMap<string, Member>
  readonly #checks: Checks
  readonly #by: string
  readonly #now: number

  constructor(lock: Lock, members: ReadonlyMap<string, Member>, checks: Checks, by: string, now: number) {
    this.lock = new Map(
      [...lock].map(([name, server]) => [
        name,
        { ...server, tools: new Map(server.tools), prompts: new Map(server.prompts) },
      ]),
    )
    this.#members = members
    this.#checks = checks
    this.#by = by
    this.#now = now
  }

  server(key: string): Approval {
    const name = serverNamed(key)
    const member = this.#members.get(name)!
    const { connection, identityDigest } = member
    if (connection.kind !== 'ready')
      return { key, outcome: 'refused', why: 'the server is not connected, so that what it says is not known' }
    const { instructions } = connection.negotiated
    if (instructions?.isWellFormed() === false)
      return { key, outcome: 'refused', why: 'its instructions are not well-formed Unicode' }
    const before = this.lock.get(name)
    if (before !== undefined && !differs(before, member)) return { key, outcome: 'unchanged' }
    const about = { serverIdentity: identityDigest, instructions: instructionsDigest(instructions) }
    const draft: Draft = {
      ...this.#approved(),
      identity: member.declared.identity,
      identityDigest,
      ...(instructions !== undefined && { instructions }),
      tools: before?.tools ?? new Map<string, LockEntry>(),
      prompts: before?.prompts ?? new Map<string, LockEntry>(),
    }
    this.lock.set(name, draft)
    this.events.push({ kind: 'server.approved', server: name, identity: identityDigest, by: this.#by, at: this.#now })
    this.#carryOver(name, draft, about)
    return { key, outcome: 'done' }
  }

  capability({ key, pin }: Wanted): Approval {
    const refused = (why: string): Approval => ({ key, outcome: 'refused', why })
    const found = this.#find(key)
    if (found === undefined) return refused('there is nothing of that name')
    const { member, row } = found
    const { kind, server, name } = row.about
    const { listed, livePin } = row
    if (listed === undefined) return refused('the server does not list it now')
    if (livePin === undefined) return refused(listed.unusable ?? 'it cannot be used')
    if (pin !== undefined && pin !== livePin) return refused('the server says something else by now; look at it again')
    if (member.connection.kind !== 'ready') return refused('the server is not connected')
    const uncompiled = kind === 'tool' ? this.#checks.compileNow(livePin, listed.definition) : undefined
    if (uncompiled !== undefined) return refused(uncompiled)
    const approved = this.lock.get(server)
    if (approved !== undefined && differs(approved, member)) {
      return refused('the server itself is not the one that was approved; approve it by its name too, if it is wanted')
    }
    if (approved === undefined) {
      const made = this.server(server)
      if (made.outcome === 'refused') return refused(made.why!)
    }
    const draft = this.lock.get(server)!
    const entries = kind === 'tool' ? draft.tools : draft.prompts
    const entry = entries.get(name)
    if (entry?.pin === livePin && entry.quarantined === undefined && found.row.standing === 'approved')
      return { key, outcome: 'unchanged' }
    entries.set(name, { ...this.#approved(), definition: listed.definition, pin: livePin })
    this.events.push({ kind: 'tool.approved', key, pin: livePin, by: this.#by, at: this.#now })
    return { key, outcome: 'done' }
  }

  /**
   * What was approved of a server stays approved of the server as it is approved now: the same words under another pin. What it
   * describes otherwise by now differs from that pin, and somebody has to look at it; what was taken back stays so.
   */
  #carryOver(server: string, draft: Draft, about: { serverIdentity: Digest; instructions: Digest }): void {
    for (const kind of ['tool', 'prompt'] as const) {
      const entries = kind === 'tool' ? draft.tools : draft.prompts
      for (const [name, entry] of entries) {
        const pin = pinOf({ kind, definition: entry.definition, ...about })
        entries.set(name, { ...entry, pin })
        if (entry.quarantined !== undefined) continue
        this.events.push({ kind: 'tool.approved', key: keyOf(kind, server, name), pin, by: this.#by, at: this.#now })
      }
    }
  }

  #find(key: string): { readonly member: Member; readonly row: Row } | undefined {
    for (const member of this.#members.values()) {
      const row = member.rows.get(key)
      if (row !== undefined) return { member, row }
    }
    return undefined
  }

  #approved(): { readonly approvedAt: string; readonly approvedBy: string } {
    return { approvedAt: new Date(this.#now).toISOString(), approvedBy: this.#by }
  }
}

function differs(approved: LockServer, { identityDigest, connection }: Member): boolean {
  if (approved.identityDigest !== identityDigest) return true
  const live = connection.kind === 'ready' ? connection.negotiated.instructions : approved.instructions
  return instructionsDigest(approved.instructions) !== instructionsDigest(live)
}

/** A lock in which approvals are taken back. The name of a server stands for all that is approved of it. */
export function quarantineIn(
  lock: Lock,
  rows: ReadonlyMap<string, Row>,
  keys: readonly string[],
  by: string,
  now: number,
  why: string,
): Changed {
  const next = new Map(
    [...lock].map(([name, server]) => [
      name,
      { ...server, tools: new Map(server.tools), prompts: new Map(server.prompts) },
    ]),
  )
  const events: CatalogueEvent[] = []
  const approvals: Approval[] = []
  for (const key of keys) {
    const all = [...rows.values()].filter(
      ({ about, entry }) => entry !== undefined && (about.key === key || about.server === key),
    )
    if (all.length === 0) approvals.push({ key, outcome: 'refused', why: 'nothing is approved under that name' })
    for (const { about } of all) {
      const server = next.get(about.server)
      const entries = about.kind === 'tool' ? server?.tools : server?.prompts
      const entry = entries?.get(about.name)
      if (entry === undefined || entry.quarantined !== undefined) {
        approvals.push({ key: about.key, outcome: 'unchanged' })
        continue
      }
      entries!.set(about.name, { ...entry, quarantined: { at: new Date(now).toISOString(), by, why } })
      events.push({ kind: 'tool.quarantined', key: about.key, pin: entry.pin, by, at: now, why })
      approvals.push({ key: about.key, outcome: 'done' })
    }
  }
  return { lock: next, approvals, events }
}
