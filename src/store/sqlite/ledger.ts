import { firstIdAt } from '../../words/id.ts'
import { refuse, type Refusal } from '../../words/verdict.ts'
import type { AuthorisedAction } from '../../flow/action/index.ts'
import type { Approval, Approvals, Earlier, History, Question } from '../../flow/consent/consented.ts'
import type { AskRecord } from '../../flow/asking.ts'
import type { Happening } from '../../flow/evidence/index.ts'
import type { Step } from '../../flow/line.ts'
import type { Scoped } from '../../flow/resource/scoped.ts'
import {
  type AttemptRow,
  type Claim,
  type Ledger,
  LedgerFault,
  type OperationRow,
  type Outcome,
  type Reconciled,
  type RefusedProposal,
} from '../../flow/side-effect/ledger.ts'
import type { Acceptance, OperationState } from '../../flow/side-effect/operation.ts'
import {
  askApproval,
  decideApproval,
  findApproval,
  listApprovals,
  matchingApproval,
  revokeApproval,
} from './approvals.ts'
import { askHappening } from './asks.ts'
import { beginAttempt, clearAttempts, endAttempt, readAttempts } from './attempts.ts'
import { finishCompensation } from './compensation.ts'
import type { Chain } from './chain.ts'
import type { Database, Row } from './database.ts'
import {
  claimOperation,
  findOperation,
  move,
  operationUnderKey,
  readOperation,
  settleOperation,
  Stale,
} from './operations.ts'
import { earlierCall } from './history.ts'
import { keepPayload, openText, readPayload } from './payloads.ts'
import { unfoldedLine } from './records.ts'
import { operationOf, readOf } from './rows.ts'
import type { Job, Writer } from './writer.ts'

/** The ledger on one SQLite file. Reads answer at once from the writer's own connection. */
export class SqliteLedger implements Ledger, Approvals, History {
  readonly #writer: Writer
  readonly #secret: Uint8Array
  readonly #repeatWindowMs: number
  readonly #reads: 'synced' | 'grouped'

  readonly #rolledBack: string | undefined

  /** `rolledBack` says why this ledger may not be gone on with; then it takes no writes. */
  constructor(
    writer: Writer,
    options: { secret: Uint8Array; repeatWindowMs: number; reads: 'grouped' | 'strict'; rolledBack?: string },
  ) {
    this.#rolledBack = options.rolledBack
    this.#writer = writer
    this.#secret = options.secret
    this.#repeatWindowMs = options.repeatWindowMs
    this.#reads = options.reads === 'strict' ? 'synced' : 'grouped'
  }

  get closed(): Refusal | undefined {
    if (this.#rolledBack !== undefined) return refuse('LEDGER_ROLLED_BACK', { why: this.#rolledBack })
    return this.#writer.broken === undefined ? undefined : refuse('LEDGER_UNAVAILABLE', { why: this.#writer.broken })
  }

  #write<Value>(job: Job<Value>): Promise<Value> {
    if (this.#rolledBack !== undefined) return Promise.reject(new LedgerFault('LEDGER_ROLLED_BACK', this.#rolledBack))
    return this.#writer.write(job)
  }

  #effect<Value>(
    weight: 'proposal' | 'outcome',
    run: (db: Database, chain: Chain, now: number) => Value,
  ): Promise<Value> {
    return this.#write({ durability: 'synced', weight, run: (db, chain) => run(db, chain, Date.now()) })
  }

  async claim(action: AuthorisedAction, steps: readonly Step[], stillValid: () => boolean): Promise<Claim> {
    try {
      return await this.#effect('proposal', (db, chain, now) => {
        if (!stillValid()) throw new Stale('the policy or a definition changed')
        return claimOperation(db, chain, this.#secret, action, steps, now)
      })
    } catch (fault) {
      if (fault instanceof Stale) return refuse('AUTHORISATION_STALE', { why: fault.message })
      throw fault
    }
  }

  notSent(operation: string, why: string): Promise<void> {
    return this.#effect('outcome', (db, chain, now) => {
      endAttempt(db, operation, { sent: 'no', outcome: 'not_sent', errorKind: 'E1' }, now)
      this.#step(db, chain, now, operation, 'dispatched', 'authorised', 'op.not_sent', { why, errorKind: 'E1' })
    })
  }

  pending(operation: string, why: string): Promise<void> {
    const happening: Happening = { kind: 'op.pending', at: Date.now(), operation, facts: { why } }
    return this.#write({ durability: 'grouped', weight: 'outcome', run: (db, chain) => chain.append(db, happening) })
  }

  dispatchAgain(operation: string, deadlineMs: number): Promise<{ readonly attempt: number }> {
    return this.#effect('proposal', (db, chain, now) => {
      db.statement('UPDATE operation SET attempts = attempts + 1, dispatched_at = ? WHERE op_id = ?').run(
        now,
        operation,
      )
      const { attempts: attempt, upstreamKey } = findOperation(db, operation)!
      beginAttempt(db, operation, { n: attempt, upstreamKey, deadlineMs }, now)
      this.#step(db, chain, now, operation, 'authorised', 'dispatched', 'op.dispatched', { attempt })
      return { attempt }
    })
  }

  giveUp(operation: string, why: string): Promise<void> {
    return this.#effect('outcome', (db, chain, now) =>
      this.#step(db, chain, now, operation, 'authorised', 'expired', 'op.expired', { why }),
    )
  }

  settle(operation: string, outcome: Outcome, steps: readonly Step[]): Promise<void> {
    return this.#effect('outcome', (db, chain, now) => settleOperation(db, chain, operation, outcome, steps, now))
  }

  conclude(operation: string, acceptance: Acceptance, steps: readonly Step[]): Promise<void> {
    return this.#write({
      durability: acceptance === 'not_required' ? 'grouped' : 'synced',
      weight: 'outcome',
      run: (db, chain) => {
        const now = Date.now()
        db.statement('UPDATE operation SET acceptance = ?, updated_at = ? WHERE op_id = ?').run(
          acceptance,
          now,
          operation,
        )
        chain.append(db, {
          kind: acceptance === 'not_required' ? 'op.result' : 'op.acceptance',
          at: now,
          operation,
          acceptance,
          steps,
        })
      },
    })
  }

  read(action: AuthorisedAction, operation: string, outcome: Outcome, steps: readonly Step[]): Promise<void> {
    return this.#write({
      durability: this.#reads,
      weight: 'proposal',
      run: (db, chain) => readOperation(db, chain, action, operation, outcome, steps, Date.now()),
    })
  }

  repeated(operation: string, steps: readonly Step[]): Promise<void> {
    const happening: Happening = { kind: 'op.repeated', at: Date.now(), operation, steps }
    return this.#write({ durability: 'grouped', weight: 'proposal', run: (db, chain) => chain.append(db, happening) })
  }

  refused({ proposal, steps, ...who }: RefusedProposal): Promise<void> {
    const happening: Happening = { kind: 'proposal.refused', at: Date.now(), ...who, steps, facts: { proposal } }
    // No outcome: a ledger that cannot be written must not keep those waiting who are told no.
    return this.#write({ durability: 'grouped', weight: 'proposal', run: (db, chain) => chain.append(db, happening) })
  }

  asked(asked: AskRecord): Promise<void> {
    const run: Job<void>['run'] = (db, chain) => chain.append(db, askHappening(db, chain, asked))
    return this.#write({ durability: 'synced', weight: 'proposal', run })
  }

  /** Puts something on the record that is no operation: a start, an approval of a tool, another configuration. */
  record(happening: Happening, durability: 'synced' | 'grouped' = 'synced'): Promise<void> {
    return this.#write({ durability, weight: 'proposal', run: (db, chain) => chain.append(db, happening) })
  }

  reconcile(
    operation: string,
    { to, method, by, evidence, result, receiptRef }: Reconciled,
  ): Promise<OperationRow | Refusal> {
    return this.#effect('outcome', (db, chain, now) => {
      const row = findOperation(db, operation)
      if (row === undefined) return refuse('TOOL_UNKNOWN', { operation })
      if (row.state !== 'unknown' && row.state !== 'held')
        return refuse('AUTHORISATION_STALE', { operation, state: row.state })
      db.statement('UPDATE operation SET next_due = NULL, why = ? WHERE op_id = ?').run(`${method}: ${by}`, operation)
      const kind = method === 'decision' ? 'op.decided' : 'op.reconciled'
      const receipt = receiptRef === undefined ? {} : { receipt: receiptRef }
      const kept =
        result === undefined ? {} : { commitments: { result: keepPayload(db, row, operation, 'result', result) } }
      if (to === 'reconciled_none') clearAttempts(db, operation)
      if (receiptRef !== undefined)
        db.statement('UPDATE operation SET receipt_ref = ? WHERE op_id = ?').run(receiptRef, operation)
      this.#step(db, chain, now, operation, row.state, to, kind, { method, by, evidence, ...receipt }, kept)
      return findOperation(db, operation)!
    })
  }

  hold(operation: string, why: string): Promise<void> {
    return this.#effect('outcome', (db, chain, now) => {
      db.statement('UPDATE operation SET next_due = NULL WHERE op_id = ?').run(operation)
      this.#step(db, chain, now, operation, 'unknown', 'held', 'op.held', { why })
    })
  }

  wake(server: string, at: number): Promise<void> {
    return this.#write({
      durability: 'grouped',
      weight: 'proposal',
      run: (db) =>
        void db
          .statement(
            `UPDATE operation SET next_due = ? WHERE state = 'unknown' AND next_due > ?
             AND substr(tool, 1, instr(tool, '/') - 1) = ?`,
          )
          .run(at, at, server),
    })
  }

  async finishCompensation(child: string): Promise<void> {
    if (this.find(child)?.reverses === undefined) return
    await this.#effect('outcome', (db, chain, now) => finishCompensation(db, chain, findOperation(db, child)!, now))
  }

  abandon(settledBefore: number): Promise<void> {
    return this.#write({
      durability: 'grouped',
      weight: 'proposal',
      run: (db, chain) => {
        const rows = db
          .statement("SELECT op_id FROM operation WHERE state = 'reconciled_none' AND updated_at < ? LIMIT 100")
          .all(settledBefore) as Row[]
        for (const row of rows)
          this.#step(db, chain, Date.now(), String(row['op_id']), 'reconciled_none', 'abandoned', 'op.abandoned', {
            why: 'it had no effect, and nobody proposed it again',
          })
      },
    })
  }

  schedule(operation: string, at: number | undefined): Promise<void> {
    return this.#write({
      durability: 'grouped',
      weight: 'outcome',
      run: (db) => void db.statement('UPDATE operation SET next_due = ? WHERE op_id = ?').run(at ?? null, operation),
    })
  }

  #step(
    db: Database,
    chain: Chain,
    now: number,
    operation: string,
    from: OperationState,
    to: OperationState,
    kind: Happening['kind'],
    facts: NonNullable<Happening['facts']>,
    more: Pick<Happening, 'commitments'> = {},
  ): void {
    // Nothing moved: the same step was written before a fault that hid it.
    if (!move(db, operation, from, to, now)) return
    const row = findOperation(db, operation)!
    chain.append(db, {
      kind,
      at: now,
      operation,
      tenant: row.tenant,
      principal: row.principal,
      tool: row.tool,
      path: [from, to],
      ...more,
      facts,
    })
  }

  find(operation: string): OperationRow | undefined {
    return findOperation(this.#writer.db, operation)
  }

  list(filter: { readonly states?: readonly OperationState[]; readonly limit: number }): readonly OperationRow[] {
    const states = filter.states ?? []
    const where = states.length === 0 ? '' : `WHERE state IN (${states.map(() => '?').join(', ')})`
    const rows = this.#writer.db
      .statement(`SELECT * FROM operation ${where} ORDER BY op_id DESC LIMIT ?`)
      .all(...states, filter.limit) as Row[]
    const found = rows.map(operationOf)
    if (states.length === 0) found.push(...this.#newestReads(filter.limit))
    return found.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, filter.limit)
  }

  /** The newest reads. They are told by their events, so a list by state leaves them out. */
  #newestReads(limit: number): OperationRow[] {
    const rows = this.#writer.db
      .statement("SELECT record FROM event WHERE kind = 'op.read' ORDER BY seq DESC LIMIT ?")
      .all(limit) as Row[]
    return rows.map((row) => readOf(unfoldedLine(this.#writer.db, String(row['record']))))
  }

  due(now: number, limit: number): readonly OperationRow[] {
    const rows = this.#writer.db
      .statement(
        "SELECT * FROM operation WHERE next_due IS NOT NULL AND next_due <= ? AND state = 'unknown' ORDER BY next_due LIMIT ?",
      )
      .all(now, limit) as Row[]
    return rows.map(operationOf)
  }

  attempts(operation: string): readonly AttemptRow[] {
    return readAttempts(this.#writer.db, operation)
  }

  payload(operation: string, role: 'arguments' | 'result'): Uint8Array | undefined {
    return readPayload(this.#writer.db, operation, role)
  }

  /** What was spent since then by whom on what, for budgets that outlive a restart. */
  spentSince(since: number): readonly {
    tenant: string
    principal: string
    conversation: string
    tool: string
    effect: string
    calls: number
    wallMs: number
    resultBytes: number
  }[] {
    const rows = this.#writer.db
      .statement(
        `SELECT tenant, principal, ifnull(conversation, '') AS conversation, tool, effect, count(*) AS calls, sum(wall_ms) AS wall, sum(result_bytes) AS bytes
         FROM operation WHERE op_id >= ? GROUP BY tenant, principal, conversation, tool, effect
         UNION ALL
         SELECT json_extract(record, '$.tenant'), json_extract(record, '$.principal'),
           ifnull(json_extract(record, '$.facts.conversation'), ''), json_extract(record, '$.tool'), 'read', count(*),
           sum(json_extract(record, '$.facts.wallMs')), sum(json_extract(record, '$.facts.bytes'))
         FROM event WHERE kind = 'op.read' AND at >= ? GROUP BY 1, 2, 3, 4`,
      )
      .all(firstIdAt('op', since), since) as Row[]
    return rows.map((row) => ({
      tenant: String(row['tenant']),
      principal: String(row['principal']),
      conversation: String(row['conversation']),
      tool: String(row['tool']),
      effect: String(row['effect']),
      calls: Number(row['calls']),
      wallMs: Number(row['wall']),
      resultBytes: Number(row['bytes']),
    }))
  }

  ask(question: Question, canonicalArguments: string, now: number): Promise<Approval> {
    return this.#effect('proposal', (db, chain) => askApproval(db, chain, question, canonicalArguments, now))
  }

  decide(...[approval, decision, now]: Parameters<Ledger['decide']>): Promise<Approval | Refusal> {
    return this.#effect('proposal', (db, chain) => decideApproval(db, chain, approval, decision, now))
  }

  revoke(...[approval, revocation, now]: Parameters<Ledger['revoke']>): Promise<Approval | Refusal> {
    return this.#effect('proposal', (db, chain) => revokeApproval(db, chain, approval, revocation, now))
  }

  approval(id: string): Approval | undefined {
    return findApproval(this.#writer.db, id, Date.now())
  }

  approvals(filter: { readonly states?: readonly Approval['state'][]; readonly limit: number }): readonly Approval[] {
    return listApprovals(this.#writer.db, filter, Date.now())
  }

  approvalArguments(id: string): string | undefined {
    const row = this.#writer.db.statement('SELECT arguments FROM approval WHERE approval_id = ?').get(id) as
      | Row
      | undefined
    return row === undefined ? undefined : openText(this.#writer.db, id, 'arguments', String(row['arguments']))
  }

  matching(bindingDigest: string, now: number): Approval | undefined {
    return matchingApproval(this.#writer.db, bindingDigest, now)
  }

  underKey({ principal, tool, proposal }: Scoped): string | undefined {
    const { requestKey } = proposal.origin
    if (requestKey === undefined || tool.profile.effect === 'read') return undefined
    return operationUnderKey(this.#writer.db, principal.tenant, tool.key, requestKey)?.id
  }

  earlier(scoped: Scoped, now: number): Earlier | undefined {
    return earlierCall(this.#writer.db, scoped, now - this.#repeatWindowMs)
  }
}
