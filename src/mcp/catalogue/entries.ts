import type { CapabilityKind, Difference } from '../../flow/tool/selected.ts'
import type { Digest } from '../../words/digest.ts'
import { type JsonObject, textMember } from '../../words/json.ts'
import type { ConnectionState } from '../upstream/upstream.ts'
import type { Freshness } from './listing.ts'
import type { Member, ServerDeclared } from './member.ts'
import { type Row, liveInstructions, serverDifferences, short } from './rows.ts'

/** One capability, in short, as lists of the command line and the console show it. */
export interface CatalogueEntry {
  readonly key: string
  readonly kind: CapabilityKind
  readonly server: string
  readonly name: string
  readonly exportedName: string
  /** quarantined: a person took the approval back · gone: approved, and not offered any more · unavailable: approved, not in reach. */
  readonly state: 'approved' | 'pending' | 'changed' | 'quarantined' | 'gone' | 'unavailable'
  readonly why: string | undefined
  /** What a person should know before approving it. */
  readonly notes: readonly string[]
  /** Digest that was approved, and of what the server says now. */
  readonly pin: Digest | undefined
  readonly livePin: Digest | undefined
  readonly approvedBy: string | undefined
  /** Milliseconds since 1970. */
  readonly approvedAt: number | undefined
  readonly description: string | undefined
  readonly effect: string
  readonly risk: string
  /** Does a profile say so, or are these the defaults? */
  readonly declared: boolean
}

export interface CatalogueServer {
  readonly declared: ServerDeclared
  readonly connection: ConnectionState
  /** Why lists of it are not known although it is connected. Words of the server are made visible, and are bounded. */
  readonly why: string | undefined
  /** How fresh each of its lists is. */
  readonly lists: readonly Freshness[]
  readonly identityDigest: Digest
  readonly approved: { readonly identityDigest: Digest; readonly by: string; readonly at: number } | undefined
  /** What the server says now, or was approved to say while it is not connected. */
  readonly instructions: string | undefined
  readonly differences: readonly Difference[]
  readonly counts: { readonly approved: number; readonly pending: number; readonly changed: number }
}

export function entryOf(row: Row): CatalogueEntry {
  const { about, entry, listed } = row
  const { kind, key, server, name, profile } = about
  const pin = kind === 'resource' ? row.tool?.pin : entry?.quarantined === undefined ? entry?.pin : undefined
  return {
    key,
    kind,
    server,
    name,
    exportedName: row.exportedName,
    state: stateOf(row),
    why: row.why ?? ('why' in row.found ? row.found.why : undefined) ?? said(row),
    notes: listed?.notes ?? [],
    pin,
    livePin: row.livePin,
    approvedBy: entry?.approvedBy,
    approvedAt: entry && Date.parse(entry.approvedAt),
    description: describe(entry?.definition) ?? describe(listed?.definition),
    effect: profile.effect,
    risk: profile.risk,
    declared: profile.declared,
  }
}

export function serverOf(member: Member): CatalogueServer {
  const { declared, connection, identityDigest, lock } = member
  const facts = { lock, connection, identity: declared.identity }
  const counts = { approved: 0, pending: 0, changed: 0 }
  for (const row of member.rows.values()) {
    if (row.standing === 'approved') counts.approved++
    else if (row.standing === 'pending' || row.standing === 'quarantined') counts.pending++
    else counts.changed++
  }
  const why = member.listing.faults.map(short).join('; ')
  return {
    declared,
    connection,
    why: why === '' ? undefined : why,
    lists: member.listing.freshness,
    identityDigest,
    approved: lock && { identityDigest: lock.identityDigest, by: lock.approvedBy, at: Date.parse(lock.approvedAt) },
    instructions: liveInstructions(facts),
    differences: serverDifferences(facts),
    counts,
  }
}

function stateOf({ standing, found }: Row): CatalogueEntry['state'] {
  switch (standing) {
    case 'approved':
      return found.state === 'unavailable' ? 'unavailable' : 'approved'
    case 'server-changed':
      return 'changed'
    case 'not-negotiated':
      return 'unavailable'
    case 'pending':
    case 'changed':
    case 'quarantined':
    case 'gone':
      return standing
    default:
      return standing satisfies never
  }
}

function said({ standing }: Row): string | undefined {
  switch (standing) {
    case 'server-changed':
      return 'the server is not the one that was approved'
    case 'not-negotiated':
      return 'the server did not offer this capability'
    case 'gone':
      return 'the server does not offer it any more'
    case 'approved':
    case 'pending':
    case 'changed':
    case 'quarantined':
      return undefined
    default:
      return standing satisfies never
  }
}

function describe(definition: JsonObject | undefined): string | undefined {
  return definition && textMember(definition, 'description')
}
