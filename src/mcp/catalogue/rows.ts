import { instructionsDigest, pinOf } from '../../flow/tool/definition.ts'
import { differences } from '../../flow/tool/difference.ts'
import { type ToolProfile, undeclared } from '../../flow/tool/profile.ts'
import type { ApprovedTool, CapabilityKind, Difference, Found, Named } from '../../flow/tool/selected.ts'
import { visible } from '../../flow/tool/visible.ts'
import type { Digest } from '../../words/digest.ts'
import { type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import type { ConnectionState } from '../upstream/upstream.ts'
import { type Checks, promptCheck, resourceCheck } from './checks.ts'
import type { Listed } from './listed.ts'
import type { LockEntry, LockServer } from './lock.ts'
import { type Naming, exportedName } from './names.ts'

/** Where the operator's profiles come from. */
export type ProfileSource = (server: string, name: string, kind: CapabilityKind) => ToolProfile

export type Standing =
  | 'approved'
  /** Nobody has approved it, or it cannot be used. */
  | 'pending'
  /** A person took the approval back. */
  | 'quarantined'
  /** What the server says now is not what was approved. */
  | 'changed'
  | 'server-changed'
  /** Approved, and the server does not offer it any more. */
  | 'gone'
  /** Approved, and the server did not offer the capability for it on this connection. */
  | 'not-negotiated'

/** One capability as it stands: what was approved, what the server says, and what a call of it would find. */
export interface Row {
  readonly about: Named
  readonly exportedName: string
  readonly standing: Standing
  readonly why: string | undefined
  readonly found: Found
  readonly entry: LockEntry | undefined
  readonly listed: Listed | undefined
  /** Of what the server says now, where it can be had. */
  readonly livePin: Digest | undefined
  readonly differences: readonly Difference[]
  /** Present where `standing` is approved, also while the upstream is down. */
  readonly tool: ApprovedTool | undefined
}

/** All that the rows of one server are made of. */
export interface ServerFacts {
  readonly name: string
  readonly identity: JsonObject
  readonly identityDigest: Digest
  readonly naming: Naming
  readonly resources: 'allow' | 'deny'
  readonly prompts: 'allow' | 'deny'
  readonly lock: LockServer | undefined
  readonly connection: ConnectionState
  /** Undefined: not known of this connection. */
  readonly tools: ReadonlyMap<string, Listed> | undefined
  readonly listedPrompts: ReadonlyMap<string, Listed> | undefined
  readonly why: (kind: 'tools' | 'prompts') => string | undefined
  /** Only the beginning of the list could be read. */
  readonly isCut: (kind: 'tools' | 'prompts') => boolean
  readonly profileOf: ProfileSource
  readonly checks: Checks
  /** The rows as they were, whose approved tools are kept as they are where nothing about them changed. */
  readonly before: ReadonlyMap<string, Row>
}

export const RESOURCE_NAME = 'resources/read'

/** Keys are unique over all kinds: no tool is listed whose name begins with `prompts/` or `resources/`. */
export function keyOf(kind: CapabilityKind, server: string, name: string): string {
  return kind === 'prompt' ? `${server}/prompts/${name}` : `${server}/${name}`
}

/** Instructions of the live server, or the approved ones while none is connected. */
export function liveInstructions({ connection, lock }: Pick<ServerFacts, 'connection' | 'lock'>): string | undefined {
  return connection.kind === 'ready' ? connection.negotiated.instructions : lock?.instructions
}

/** In what the server itself differs from the one that was approved; empty where it does not, or never was. */
export function serverDifferences(facts: Pick<ServerFacts, 'connection' | 'lock' | 'identity'>): readonly Difference[] {
  const { lock, identity } = facts
  if (lock === undefined) return []
  return differences(about(lock.identity, lock.instructions), about(identity, liveInstructions(facts)))
}

function about(identity: JsonObject, instructions: string | undefined): JsonObject {
  // A text that JSON cannot hold is a difference like any other; its digest is taken from the text as it came.
  return instructions === undefined ? { identity } : { identity, instructions: instructions.toWellFormed() }
}

export function rowsOf(facts: ServerFacts): Map<string, Row> {
  const instructions = instructionsDigest(liveInstructions(facts))
  const changed =
    facts.lock !== undefined &&
    (facts.lock.identityDigest !== facts.identityDigest || instructionsDigest(facts.lock.instructions) !== instructions)
  const maker = new RowMaker(facts, instructions, changed ? serverDifferences(facts) : undefined)
  const rows = new Map<string, Row>()
  const add = (row: Row): void => void rows.set(row.about.key, row)
  for (const [name, listed] of names(facts.lock?.tools, facts.tools))
    add(maker.row('tool', name, listed, facts.lock?.tools.get(name)))
  if (facts.prompts === 'allow') {
    for (const [name, listed] of names(facts.lock?.prompts, facts.listedPrompts)) {
      add(maker.row('prompt', name, listed, facts.lock?.prompts.get(name)))
    }
  }
  if (facts.resources === 'allow') add(maker.resources())
  return rows
}

function names(
  approved: ReadonlyMap<string, LockEntry> | undefined,
  listed: ReadonlyMap<string, Listed> | undefined,
): Map<string, Listed | undefined> {
  const all = new Map<string, Listed | undefined>(listed)
  for (const name of approved?.keys() ?? []) if (!all.has(name)) all.set(name, undefined)
  return all
}

type Judged = Pick<Row, 'standing'> & {
  readonly why?: string | undefined
  readonly differences?: readonly Difference[]
}

class RowMaker {
  readonly #facts: ServerFacts
  readonly #instructions: Digest
  /** Set where the server itself is not the approved one. */
  readonly #changed: readonly Difference[] | undefined

  constructor(facts: ServerFacts, instructions: Digest, changed: readonly Difference[] | undefined) {
    this.#facts = facts
    this.#instructions = instructions
    this.#changed = changed
  }

  row(kind: 'tool' | 'prompt', name: string, listed: Listed | undefined, entry: LockEntry | undefined): Row {
    const { name: server, profileOf, naming } = this.#facts
    const profile = kind === 'tool' ? profileOf(server, name, kind) : reading(profileOf(server, name, kind))
    const named: Named = { kind, key: keyOf(kind, server, name), server, name, profile }
    const livePin =
      listed === undefined || listed.unusable !== undefined ? undefined : this.#pin(kind, listed.definition)
    const judged = this.#judge(kind, listed, entry, livePin)
    const exported = exportedName(server, name, naming)
    const tool =
      judged.standing === 'approved' ? this.#approved(named, exported, entry!.pin, entry!.definition) : undefined
    return this.#finished(named, exported, judged, tool, { entry, listed, livePin })
  }

  /** Reading resources is one capability of a server: the operator allows it as a whole. */
  resources(): Row {
    const { name: server, lock, profileOf } = this.#facts
    const definition = { name: RESOURCE_NAME }
    const profile = reading(profileOf(server, RESOURCE_NAME, 'resource'))
    const named: Named = {
      kind: 'resource',
      key: keyOf('resource', server, RESOURCE_NAME),
      server,
      name: RESOURCE_NAME,
      profile,
    }
    const livePin = this.#pin('resource', definition)
    const judged: Judged =
      lock === undefined
        ? { standing: 'pending', why: 'nobody has approved the server' }
        : this.#changed !== undefined
          ? { standing: 'server-changed', differences: this.#changed }
          : { standing: this.#negotiated('resources') ? 'approved' : 'not-negotiated' }
    const tool = judged.standing === 'approved' ? this.#approved(named, RESOURCE_NAME, livePin, definition) : undefined
    return this.#finished(named, RESOURCE_NAME, judged, tool, { entry: undefined, listed: undefined, livePin })
  }

  #judge(
    kind: 'tool' | 'prompt',
    listed: Listed | undefined,
    entry: LockEntry | undefined,
    livePin: Digest | undefined,
  ): Judged {
    const known = (kind === 'tool' ? this.#facts.tools : this.#facts.listedPrompts) !== undefined
    if (entry?.quarantined !== undefined) {
      const { by, why } = entry.quarantined
      return { standing: 'quarantined', why: `${by} took the approval back${why === '' ? '' : `: ${why}`}` }
    }
    if (listed?.unusable !== undefined) return { standing: 'pending', why: listed.unusable }
    if (entry === undefined) return { standing: 'pending', why: 'nobody has approved it' }
    if (this.#changed !== undefined) return { standing: 'server-changed', differences: this.#changed }
    const refused = this.#facts.checks.refused(entry.pin)
    if (refused !== undefined) return { standing: 'pending', why: refused }
    // While the list is not known, the approved definition is what counts; nothing can be called meanwhile.
    if (!known) return { standing: 'approved' }
    // It may stand on a page that nobody will ever see.
    if (listed === undefined && this.#facts.isCut(`${kind}s`)) return { standing: 'approved' }
    if (listed === undefined) return { standing: this.#negotiated(`${kind}s`) ? 'gone' : 'not-negotiated' }
    if (livePin === entry.pin) return { standing: 'approved' }
    return { standing: 'changed', differences: differences(entry.definition, listed.definition) }
  }

  #finished(
    named: Named,
    exported: string,
    { standing, why, differences: differing = [] }: Judged,
    tool: ApprovedTool | undefined,
    rest: Pick<Row, 'entry' | 'listed' | 'livePin'>,
  ): Row {
    const found = this.#found(named, standing, why, differing, tool, rest.listed)
    return { about: named, exportedName: exported, standing, why, found, differences: differing, tool, ...rest }
  }

  #found(
    named: Named,
    standing: Standing,
    why: string | undefined,
    differing: readonly Difference[],
    tool: ApprovedTool | undefined,
    listed: Listed | undefined,
  ): Found {
    switch (standing) {
      case 'approved': {
        const out = this.#outOfReach(named.kind) ?? this.#unseen(named.kind, listed)
        return out === undefined
          ? { state: 'approved', tool: tool! }
          : { state: 'unavailable', about: named, why: short(out) }
      }
      case 'pending':
      case 'quarantined':
        return { state: 'pending', about: named, why: why ?? 'nobody has approved it' }
      case 'changed':
        return { state: 'changed', about: named, differences: differing }
      case 'server-changed':
        return { state: 'server-changed', about: named, differences: differing }
      case 'not-negotiated':
        return { state: 'not-negotiated', about: named, capability: `${named.kind}s` }
      case 'gone':
        return { state: 'unknown' }
      default:
        return standing satisfies never
    }
  }

  #outOfReach(kind: CapabilityKind): string | undefined {
    const { connection, tools, listedPrompts, why } = this.#facts
    if (connection.kind === 'down') return connection.why
    if (connection.kind !== 'ready') return `the server is ${connection.kind}`
    if (kind === 'tool' && tools === undefined) return why('tools') ?? 'its tools are being listed'
    if (kind === 'prompt' && listedPrompts === undefined) return why('prompts') ?? 'its prompts are being listed'
    return undefined
  }

  #unseen(kind: CapabilityKind, listed: Listed | undefined): string | undefined {
    if (kind === 'resource' || listed !== undefined || !this.#facts.isCut(`${kind}s`)) return undefined
    return this.#facts.why(`${kind}s`)
  }

  #negotiated(capability: string): boolean {
    const { connection } = this.#facts
    return connection.kind !== 'ready' || isJsonObject(member(connection.negotiated.capabilities, capability))
  }

  #pin(kind: CapabilityKind, definition: JsonObject): Digest {
    return pinOf({ kind, definition, serverIdentity: this.#facts.identityDigest, instructions: this.#instructions })
  }

  #approved(named: Named, exported: string, pin: Digest, definition: JsonObject): ApprovedTool {
    const { before, checks, connection, identityDigest } = this.#facts
    const kept = before.get(named.key)?.tool
    const serverVersion =
      connection.kind === 'ready'
        ? short(textMember(connection.negotiated.serverInfo, 'version') ?? '')
        : (kept?.serverVersion ?? '')
    if (
      kept?.pin === pin &&
      kept.profile === named.profile &&
      kept.serverVersion === serverVersion &&
      kept.exportedName === exported
    ) {
      return kept
    }
    const own =
      named.kind === 'tool'
        ? checks.ofTool(pin, definition)
        : { checkArguments: named.kind === 'prompt' ? promptCheck(definition) : resourceCheck }
    return Object.freeze({
      ...named,
      exportedName: exported,
      pin,
      serverIdentity: identityDigest,
      serverVersion,
      definition,
      ...own,
    })
  }
}

/** Words of others that go on the record: bounded, and without what nobody sees. */
export function short(text: string): string {
  return visible(text.slice(0, 200).toWellFormed())
}

/**
 * Getting a prompt or reading a resource has no effect by the protocol, and the operator allows it for the server by name;
 * a declared profile may still make it stricter in all else.
 */
const READING: ToolProfile = Object.freeze({
  ...undeclared,
  effect: 'read',
  risk: 'low',
  repeat: 'allow',
  declared: true,
})
const asRead = new WeakMap<ToolProfile, ToolProfile>()

function reading(profile: ToolProfile): ToolProfile {
  if (!profile.declared) return READING
  const known = asRead.get(profile)
  if (known !== undefined) return known
  const made: ToolProfile = Object.freeze({ ...profile, effect: 'read' })
  asRead.set(profile, made)
  return made
}
