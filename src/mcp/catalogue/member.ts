import type { Digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import type { ConnectionState, Upstream } from '../upstream/upstream.ts'
import type { Checks } from './checks.ts'
import { serverIdentity } from './identity.ts'
import { type Listed, listedOf, sameListing } from './listed.ts'
import { type ListKind, Listing } from './listing.ts'
import type { LockServer } from './lock.ts'
import type { Naming } from './names.ts'
import { ResourceMap } from './resources.ts'
import { type ProfileSource, RESOURCE_NAME, type Row, type ServerFacts, keyOf, rowsOf } from './rows.ts'

/** What the operator declares of one upstream, as far as the catalogue needs it. */
export interface ServerDeclared {
  readonly spec: { readonly name: string }
  /** What makes it this server; see `serverIdentity`. */
  readonly identity: JsonObject
  readonly resources: 'allow' | 'deny'
  readonly prompts: 'allow' | 'deny'
  readonly naming: Naming
}

/** What may be shown to a client. */
export type Changed = 'tools' | 'prompts' | 'resources'

export interface MemberNeeds {
  readonly pollMs: number
  readonly patienceMs: number
  readonly lock: () => LockServer | undefined
  readonly profileOf: ProfileSource
  readonly checks: Checks
  /**
   * Rows were made again. `what` says what clients are shown otherwise now: nothing where the server only came or went.
   * `decides` says whether a call could be judged otherwise than before.
   */
  readonly onChange: (what: ReadonlySet<Changed>, decides: boolean) => void
}

const NONE: ReadonlyMap<string, Listed> = new Map()

/** One upstream in the catalogue: its lists, and the rows that they and the approvals make. */
export class Member {
  readonly declared: ServerDeclared
  readonly identityDigest: Digest
  readonly listing: Listing
  readonly settled: Promise<void>
  readonly #upstream: Upstream
  readonly #needs: MemberNeeds
  rows: ReadonlyMap<string, Row> = new Map()
  resources: ResourceMap | undefined
  #tools: ReadonlyMap<string, Listed> | undefined
  #prompts: ReadonlyMap<string, Listed> | undefined
  #rawTools: readonly JsonObject[] | undefined
  #rawPrompts: readonly JsonObject[] | undefined
  #rawResources: string | undefined
  /** Kept while nothing is known, so that a server that comes back is not examined anew. */
  #lastTools = NONE
  #lastPrompts = NONE
  #made = ''

  constructor(declared: ServerDeclared, upstream: Upstream, needs: MemberNeeds) {
    this.declared = declared
    this.#upstream = upstream
    this.#needs = needs
    this.identityDigest = serverIdentity(declared.identity)
    const kinds: ListKind[] = ['tools']
    if (declared.prompts === 'allow') kinds.push('prompts')
    if (declared.resources === 'allow') kinds.push('resources')
    const { pollMs, patienceMs } = needs
    this.listing = new Listing(upstream, {
      kinds,
      pollMs,
      patienceMs,
      clock: () => performance.now(),
      onListed: () => this.#listed(),
    })
    this.settled = this.listing.settled
    this.rows = rowsOf(this.facts())
  }

  get connection(): ConnectionState {
    return this.#upstream.state
  }

  get lock(): LockServer | undefined {
    return this.#needs.lock()
  }

  get resourceRow(): Row | undefined {
    return this.rows.get(keyOf('resource', this.declared.spec.name, RESOURCE_NAME))
  }

  /** Makes the rows from what is known now. */
  rebuild(resourcesChanged = false): void {
    const before = this.rows
    this.rows = rowsOf(this.facts())
    this.#made = this.#reach()
    const what = new Set<Changed>()
    for (const [kind, changed] of KINDS) if (signature(before, kind) !== signature(this.rows, kind)) what.add(changed)
    const decides = what.size > 0
    if (resourcesChanged) what.add('resources')
    this.#needs.onChange(what, decides)
  }

  facts(): ServerFacts {
    const { declared } = this
    return {
      name: declared.spec.name,
      identity: declared.identity,
      identityDigest: this.identityDigest,
      naming: declared.naming,
      resources: declared.resources,
      prompts: declared.prompts,
      lock: this.lock,
      connection: this.connection,
      tools: this.#tools,
      listedPrompts: this.#prompts,
      why: (kind) => this.listing.why(kind),
      isCut: (kind) => this.listing.isCut(kind),
      profileOf: this.#needs.profileOf,
      checks: this.#needs.checks,
      before: this.rows,
    }
  }

  #listed(): void {
    const { tools, prompts, resources, templates } = this.listing.lists
    const toolsNow = tools === this.#rawTools ? this.#tools : reread('tool', tools, this.#tools, this.#lastTools)
    const promptsNow =
      prompts === this.#rawPrompts ? this.#prompts : reread('prompt', prompts, this.#prompts, this.#lastPrompts)
    this.#rawTools = tools
    this.#rawPrompts = prompts
    const text = resources === undefined ? undefined : JSON.stringify([resources, templates])
    const moved = text !== this.#rawResources && text !== undefined
    if (moved) this.resources = new ResourceMap(resources!, templates ?? [])
    this.#rawResources = text ?? this.#rawResources
    // Most readings say what the last one said.
    if (toolsNow === this.#tools && promptsNow === this.#prompts && !moved && this.#reach() === this.#made) return
    this.#tools = toolsNow
    this.#prompts = promptsNow
    this.#lastTools = toolsNow ?? this.#lastTools
    this.#lastPrompts = promptsNow ?? this.#lastPrompts
    this.rebuild(moved)
  }

  /** Why something of this server cannot be called just now, as one text; all that the rows take from the connection. */
  #reach(): string {
    const { connection } = this
    const state =
      connection.kind === 'ready' ? connection.negotiated.connectedAt : connection.kind === 'down' ? connection.why : ''
    return JSON.stringify([connection.kind, state, this.listing.why('tools'), this.listing.why('prompts')])
  }
}

const KINDS = [
  ['tool', 'tools'],
  ['prompt', 'prompts'],
  ['resource', 'resources'],
] as const

function reread(
  kind: 'tool' | 'prompt',
  items: readonly JsonObject[] | undefined,
  now: ReadonlyMap<string, Listed> | undefined,
  last: ReadonlyMap<string, Listed>,
): ReadonlyMap<string, Listed> | undefined {
  if (items === undefined) return undefined
  const read = listedOf(kind, items, last)
  return now !== undefined && sameListing(read, now) ? now : read
}

/** All of the rows that decides about a call or is shown to a client, but whether the server can be reached now. */
function signature(rows: ReadonlyMap<string, Row>, kind: string): string {
  let text = ''
  for (const { about, standing, tool } of rows.values()) {
    if (about.kind === kind) text += `${about.key}\u0000${standing}\u0000${tool?.pin}\u0001`
  }
  return text
}
