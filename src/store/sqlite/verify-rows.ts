import { canonical } from '../../words/canonical.ts'
import { digest } from '../../words/digest.ts'
import type { Json } from '../../words/json.ts'
import type { EvidenceRecord } from '../../flow/evidence/index.ts'
import type { Database, Row } from './database.ts'

type Expected = Record<string, Json>

/** What the events say that the rows of operations and approvals have to be; a later claim relies on every one of these columns. */
export class ExpectedRows {
  readonly #operations = new Map<string, Expected>()
  readonly #approvals = new Map<string, Expected>()

  note(record: EvidenceRecord): void {
    const { operation, approval } = record
    if (operation !== undefined) this.#noteOperation(operation, record)
    if (approval !== undefined) this.#noteApproval(approval, record)
  }

  #noteOperation(id: string, { kind, tenant, principal, tool, steps = [], facts = {} }: EvidenceRecord): void {
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
      this.#operations.set(id, {
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
        channel: null,
        used_by: null,
      })
    else if (kind === 'approval.granted' || kind === 'approval.denied')
      this.#change(this.#approvals, id, {
        state: kind.slice('approval.'.length),
        decided_by: by,
        channel,
      })
    else if (kind === 'approval.expired') this.#change(this.#approvals, id, { state: 'expired' })
  }

  #change(rows: Map<string, Expected>, id: string, what: Expected): void {
    rows.set(id, { ...rows.get(id), ...what })
  }

  /** The first row that is not what the events made of it. */
  wrong(db: Database): string | undefined {
    return (
      differing(db, 'SELECT op_id AS id, * FROM operation', 'operation', this.#operations) ??
      differing(db, 'SELECT approval_id AS id, * FROM approval', 'approval', this.#approvals, questionIsBound)
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
  holds: (row: Row) => boolean = () => true,
): string | undefined {
  let seen = 0
  for (const row of db.statement(sql).iterate() as Iterable<Row>) {
    seen++
    const id = String(row['id'])
    const wanted = expected.get(id)
    if (wanted === undefined) return `no event speaks of the ${what} ${id}`
    const column = Object.keys(wanted).find(
      (name) => (name === 'question' ? digest(String(row[name])) : row[name]) !== wanted[name],
    )
    if (column !== undefined) return `the ${column} of the ${what} ${id} is not what its events say`
    if (!holds(row)) return `the ${what} ${id} does not say what was asked`
  }
  return seen === expected.size ? undefined : `there are events of ${expected.size} ${what}s, and rows of ${seen}`
}

function questionIsBound(row: Row): boolean {
  const { binding } = JSON.parse(String(row['question'])) as { binding: { [name: string]: Json } }
  return (
    digest(canonical(binding)) === row['binding_digest'] &&
    digest(String(row['arguments'])) === binding['argumentsDigest']
  )
}
