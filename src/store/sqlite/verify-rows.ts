import { canonical } from '../../words/canonical.ts'
import { digest } from '../../words/digest.ts'
import type { Json } from '../../words/json.ts'
import type { EvidenceRecord } from '../../flow/evidence/index.ts'
import type { Database, Row } from './database.ts'
import { commitToText, openText } from './payloads.ts'
import { rowDigest } from './row-digest.ts'

type Expected = Record<string, Json>

/** What the events say that the rows of operations and approvals have to be; a later claim relies on every one of these columns. */
export class ExpectedRows {
  readonly #operations = new Map<string, Expected>()
  readonly #approvals = new Map<string, Expected>()
  readonly #digests = new Map<string, string>()

  note(record: EvidenceRecord): void {
    const { operation, approval, row } = record
    if (operation !== undefined && row !== undefined) this.#digests.set(operation, row)
    if (operation !== undefined) this.#noteOperation(operation, record)
    if (approval !== undefined) this.#noteApproval(approval, record)
  }

  #noteOperation(id: string, { kind, tenant, principal, tool, path, steps = [], facts = {} }: EvidenceRecord): void {
    // A read is its event, and nothing else.
    if (kind === 'op.read') return
    const state = path?.at(-1)
    if (state !== undefined) this.#change(this.#operations, id, { state })
    const said = (step: string, name: string): Json => steps.find((it) => it.step === step)?.facts[name] ?? null
    if (kind === 'op.dispatched') {
      const approved = said('consent', 'approval')
      if (this.#operations.has(id)) {
        // Sent again after a proof that nothing left says no more; taken up after a proof of no effect, it was judged anew.
        if (steps.length === 0) return
        const anew = onlySaid({ policy_version: said('resource', 'policyVersion'), approval: approved })
        this.#change(this.#operations, id, { ...anew, standing: null })
        if (typeof approved === 'string') this.#change(this.#approvals, approved, { state: 'used', used_by: id })
        return
      }
      // What no event says cannot be compared.
      const fromSteps = onlySaid({
        scopes_digest: said('resource', 'scopesDigest'),
        policy_version: said('resource', 'policyVersion'),
        pin: said('tool', 'pin'),
        approval: approved,
      })
      this.#change(this.#operations, id, {
        tenant: tenant ?? null,
        principal: principal ?? null,
        tool: tool ?? null,
        ...fromSteps,
        effect: facts['effect'] ?? null,
        request_key: facts['requestKey'] ?? null,
        standing: null,
      })
      if (typeof approved === 'string') this.#change(this.#approvals, approved, { state: 'used', used_by: id })
    }
    if (kind === 'op.unknown') this.#change(this.#operations, id, { standing: facts['standing'] ?? null })
  }

  #noteApproval(id: string, { kind, at, tenant, principal, tool, facts = {} }: EvidenceRecord): void {
    const { by = null, channel = null, binding = null, expiresAt = null, question = null } = facts
    if (kind === 'approval.asked')
      this.#approvals.set(id, {
        tenant: tenant ?? null,
        principal: principal ?? null,
        tool: tool ?? null,
        binding_digest: binding,
        question,
        expires_at: expiresAt,
        asked_at: at,
        state: 'waiting',
        decided_by: null,
        decided_at: null,
        why: null,
        channel: null,
        used_by: null,
      })
    else if (kind === 'approval.granted' || kind === 'approval.denied')
      this.#change(this.#approvals, id, {
        state: kind.slice('approval.'.length),
        decided_by: by,
        decided_at: at,
        why: facts['why'] ?? '',
        channel,
      })
    else if (kind === 'approval.expired' || kind === 'approval.revoked')
      this.#change(this.#approvals, id, { state: 'expired' })
  }

  #change(rows: Map<string, Expected>, id: string, what: Expected): void {
    rows.set(id, { ...rows.get(id), ...what })
  }

  /** The first row that is not what the events made of it. */
  wrong(db: Database, destroyed: ReadonlySet<string>): string | undefined {
    return (
      differing(db, 'SELECT * FROM operation', 'operation', this.#operations, 'op_id', (row) => {
        const digest = this.#digests.get(String(row['op_id']))
        return digest === undefined || digest === rowDigest(row)
      }) ??
      differing(db, 'SELECT * FROM approval', 'approval', this.#approvals, 'approval_id', (row) =>
        questionIsBound(row, db, destroyed),
      )
    )
  }
}

function onlySaid(columns: Expected): Expected {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== null))
}

function differing(
  db: Database,
  sql: string,
  what: string,
  expected: ReadonlyMap<string, Expected>,
  key: 'op_id' | 'approval_id',
  holds: (row: Row) => boolean,
): string | undefined {
  let seen = 0
  for (const row of db.statement(sql).iterate() as Iterable<Row>) {
    seen++
    const id = String(row[key])
    const wanted = expected.get(id)
    if (wanted === undefined) return `no event speaks of the ${what} ${id}`
    const column = Object.keys(wanted).find(
      (name) => (name === 'question' ? askedIn(db, row, wanted[name]) : row[name]) !== wanted[name],
    )
    if (column !== undefined)
      return `the ${column} of the ${what} ${id} is not what it was: its events say ${JSON.stringify(wanted[column])}`
    if (!holds(row)) return `the ${what} ${id} is not what it was when its last event was written`
  }
  return seen === expected.size ? undefined : `there are events of ${expected.size} ${what}s, and rows of ${seen}`
}

/** What the question in the row is, as the event commits to it. One that was erased is taken at the event's word. */
function askedIn(db: Database, row: Row, wanted: Json | undefined): Json | undefined {
  const id = String(row['approval_id'])
  return commitToText(db, id, 'question', String(row['question'])) ?? wanted
}

function questionIsBound(row: Row, db: Database, destroyed: ReadonlySet<string>): boolean {
  const id = String(row['approval_id'])
  const question = openText(db, id, 'question', String(row['question']))
  const given = openText(db, id, 'arguments', String(row['arguments']))
  if (question === undefined || given === undefined) return destroyed.has(String(row['question']).split(' ')[0] ?? '')
  const { binding } = JSON.parse(question) as { binding: { [name: string]: Json } }
  return digest(canonical(binding)) === row['binding_digest'] && digest(given) === binding['argumentsDigest']
}
