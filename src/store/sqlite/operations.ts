import { createHmac } from 'node:crypto'
import { commitment } from '../../words/digest.ts'
import { newId } from '../../words/id.ts'
import { refuse, type Refusal } from '../../words/verdict.ts'
import type { AuthorisedAction } from '../../flow/action/index.ts'
import type { Happening, Read, Subject } from '../../flow/evidence/index.ts'
import type { Step } from '../../flow/line.ts'
import type { Claim, OperationRow, Outcome } from '../../flow/side-effect/ledger.ts'
import type { OperationState } from '../../flow/side-effect/operation.ts'
import { beginAttempt, endAttempt } from './attempts.ts'
import { beginCompensation, notUndoable } from './compensation.ts'
import type { Chain } from './chain.ts'
import type { Database, Row } from './database.ts'
import { keepPayload, readPayload } from './payloads.ts'
import { unfoldedLine } from './records.ts'
import { operationOf, readOf } from './rows.ts'

/** Statements on the operation table. Each function runs inside a transaction of the writer's. */

export function findOperation(db: Database, id: string): OperationRow | undefined {
  const row = db.statement('SELECT * FROM operation WHERE op_id = ?').get(id) as Row | undefined
  if (row !== undefined) return operationOf(row)
  const read = db.statement("SELECT record FROM event WHERE op_id = ? AND kind = 'op.read'").get(id) as Row | undefined
  return read === undefined ? undefined : readOf(unfoldedLine(db, String(read['record'])))
}

/** What the key stands for. One whose operation is known to have had no effect, and never will, stands for nothing again. */
export function operationUnderKey(db: Database, tenant: string, tool: string, key: string): OperationRow | undefined {
  const row = db
    .statement(
      `SELECT * FROM operation WHERE tenant = ? AND tool = ? AND request_key = ?
       AND state NOT IN ('expired', 'abandoned', 'denied')`,
    )
    .get(tenant, tool, key) as Row | undefined
  return row === undefined ? undefined : operationOf(row)
}

// Of version-4 form, since several APIs take nothing else as a key (google.aip.dev/155).
function upstreamKeyOf(secret: Uint8Array, operation: string): string {
  const bytes = createHmac('sha256', secret).update(operation).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const insertSql = `INSERT INTO operation(op_id, tenant, principal, tool, effect, request_key, arguments_digest, scopes_digest,
  conversation, pin, policy_version, state, standing, attempts, upstream_key, approval, repeat_of, why, result_bytes, wall_ms, salt,
  created_at, updated_at, dispatched_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// A column of the first schema; salts are derived from the key that seals.
const NO_SALT = new Uint8Array(0)

function subjectOf({ principal }: AuthorisedAction): Subject {
  return { tenant: principal.tenant, principal: principal.id }
}

function common(action: AuthorisedAction): Pick<Happening, 'tenant' | 'principal' | 'tool' | 'trace'> {
  return {
    tenant: action.principal.tenant,
    principal: action.principal.id,
    tool: action.tool.key,
    trace: action.proposal.traceId,
  }
}

/** Claims the right to send once: the key, the approval and the intent, or the reason why not. */
export function claimOperation(
  db: Database,
  chain: Chain,
  secret: Uint8Array,
  action: AuthorisedAction,
  steps: readonly Step[],
  now: number,
): Claim {
  const { proposal, principal, tool } = action
  const requestKey = proposal.origin.requestKey
  if (requestKey !== undefined) {
    const earlier = operationUnderKey(db, principal.tenant, tool.key, requestKey)
    const taken = earlier === undefined ? undefined : keyTaken(db, earlier, action)
    if (taken !== undefined) return taken
  }
  // Nobody was asked, since the key named an operation; by now it names none.
  if (action.consent.kind === 'under-key') return refuse('AUTHORISATION_STALE', { operation: action.consent.operation })
  if (tool.profile.effect === 'once' || tool.profile.effect === 'keyed') {
    const open = openTwin(db, action)
    if (open !== undefined) return open
  }
  const proved = provedNone(db, action)
  if (proved !== undefined) return takeUp(db, chain, proved, action, steps, now)
  const { reverses } = proposal.origin
  const parent = reverses === undefined ? undefined : findOperation(db, reverses)
  const cannot = reverses === undefined ? undefined : notUndoable(parent)
  if (cannot !== undefined) return refuse('NOT_UNDOABLE', { operation: reverses ?? '', why: cannot })
  const operation = newId('op', now)
  const upstreamKey = upstreamKeyOf(secret, operation)
  db.statement(insertSql).run(
    operation,
    principal.tenant,
    principal.id,
    tool.key,
    tool.profile.effect,
    requestKey ?? null,
    proposal.digest,
    action.scopesDigest,
    proposal.origin.conversation ?? proposal.origin.session ?? null,
    tool.pin,
    action.policyVersion,
    'proposed',
    null,
    1,
    upstreamKey,
    action.consent.kind === 'approved' ? action.consent.approval : null,
    action.repeatOf ?? null,
    null,
    0,
    0,
    NO_SALT,
    now,
    now,
    now,
  )
  if (action.consent.kind === 'approved') useApproval(db, operation, action.consent.approval, now)
  const deadlineMs = tool.profile.hardDeadlineMs
  beginAttempt(db, operation, { n: 1, upstreamKey, deadlineMs }, now)
  move(db, operation, 'proposed', 'authorised', now)
  move(db, operation, 'authorised', 'dispatched', now)
  const kept = keepPayload(db, subjectOf(action), operation, 'arguments', proposal.canonical)
  chain.append(db, {
    kind: 'op.dispatched',
    at: now,
    operation,
    ...common(action),
    path: ['proposed', 'authorised', 'dispatched'],
    attempt: 1,
    commitments: { arguments: kept },
    steps,
    // No step says them, and a later claim relies on them.
    facts: {
      effect: tool.profile.effect,
      requestKey: requestKey ?? null,
      ...(reverses === undefined ? {} : { reverses }),
    },
  })
  if (parent !== undefined) beginCompensation(db, chain, parent, operation, now)
  return { kind: 'claimed', operation, attempt: 1, upstreamKey }
}

const MOST_ATTEMPTS = 3

/** The same call, of which it is proved that no attempt took effect: it is not a new intention but the old one. */
function provedNone(
  db: Database,
  { principal, tool, proposal, scopesDigest }: AuthorisedAction,
): OperationRow | undefined {
  const row = db
    .statement(
      `SELECT * FROM operation WHERE tenant = ? AND principal = ? AND tool = ? AND arguments_digest = ? AND scopes_digest = ?
       AND effect = ? AND request_key IS ? AND pin = ? AND state = 'reconciled_none' AND attempts < ? ORDER BY op_id DESC LIMIT 1`,
    )
    .get(
      principal.tenant,
      principal.id,
      tool.key,
      proposal.digest,
      scopesDigest,
      tool.profile.effect,
      proposal.origin.requestKey ?? null,
      tool.pin,
      MOST_ATTEMPTS,
    ) as Row | undefined
  return row === undefined ? undefined : operationOf(row)
}

/** The next attempt of an operation without an effect so far: judged anew, under the key that the upstream knows it by. */
function takeUp(
  db: Database,
  chain: Chain,
  row: OperationRow,
  action: AuthorisedAction,
  steps: readonly Step[],
  now: number,
): Claim {
  const attempt = row.attempts + 1
  const approval = action.consent.kind === 'approved' ? action.consent.approval : row.approval
  if (action.consent.kind === 'approved') useApproval(db, row.id, action.consent.approval, now)
  db.statement(
    `UPDATE operation SET attempts = ?, dispatched_at = ?, next_due = NULL, standing = NULL, why = NULL, error_kind = NULL,
     approval = ?, policy_version = ? WHERE op_id = ?`,
  ).run(attempt, now, approval ?? null, action.policyVersion, row.id)
  beginAttempt(
    db,
    row.id,
    { n: attempt, upstreamKey: row.upstreamKey, deadlineMs: action.tool.profile.hardDeadlineMs },
    now,
  )
  move(db, row.id, 'reconciled_none', 'authorised', now)
  move(db, row.id, 'authorised', 'dispatched', now)
  chain.append(db, {
    kind: 'op.dispatched',
    at: now,
    operation: row.id,
    ...common(action),
    path: ['reconciled_none', 'authorised', 'dispatched'],
    attempt,
    steps,
  })
  return { kind: 'claimed', operation: row.id, attempt, upstreamKey: row.upstreamKey }
}

// Thrown, not returned: what was written before it has to go again.
function useApproval(db: Database, operation: string, approval: string, now: number): void {
  const used = db
    .statement(
      "UPDATE approval SET state = 'used', used_by = ? WHERE approval_id = ? AND state = 'granted' AND expires_at > ?",
    )
    .run(operation, approval, now)
  if (used.changes !== 1) throw new Stale('the approval was used, withdrawn or has expired')
}

/** A guard inside the transaction failed; the refusal goes to the caller, the job is undone. */
export class Stale extends Error {}

/** Undefined where the key names an operation without an effect, which the same call takes up again. */
function keyTaken(db: Database, earlier: OperationRow, action: AuthorisedAction): Claim | undefined {
  if (earlier.state === 'reconciled_none') return undefined
  const same =
    earlier.principal === action.principal.id &&
    earlier.argumentsDigest === action.proposal.digest &&
    earlier.scopesDigest === action.scopesDigest &&
    earlier.pin === action.tool.pin
  // Another principal learns that the key is taken, and nothing of what for.
  if (!same) return refuse('KEY_REUSED', {})
  switch (earlier.state) {
    case 'succeeded':
    case 'failed':
    case 'reconciled_effect':
    case 'compensated':
    case 'compensating':
    case 'compensation_failed':
      return { kind: 'settled', row: earlier, result: readPayload(db, earlier.id, 'result') }
    case 'unknown':
    case 'held':
      if (earlier.standing === 'answered')
        return { kind: 'settled', row: earlier, result: readPayload(db, earlier.id, 'result') }
      return refuse('OUTCOME_UNKNOWN', { operation: earlier.id, state: earlier.state })
    default:
      return refuse('IN_PROGRESS', { operation: earlier.id, state: earlier.state })
  }
}

function openTwin(db: Database, action: AuthorisedAction): Refusal | undefined {
  const row = db
    .statement(
      `SELECT * FROM operation WHERE tenant = ? AND principal = ? AND tool = ? AND arguments_digest = ? AND scopes_digest = ?
       AND effect IN ('keyed', 'once') AND (state IN ('proposed', 'authorised', 'dispatched', 'working', 'input_required', 'held')
       OR (state = 'unknown' AND standing = 'silent'))`,
    )
    .get(action.principal.tenant, action.principal.id, action.tool.key, action.proposal.digest, action.scopesDigest) as
    | Row
    | undefined
  if (row === undefined) return undefined
  const { id, state } = operationOf(row)
  return refuse(state === 'unknown' || state === 'held' ? 'OUTCOME_UNKNOWN' : 'IN_PROGRESS', { operation: id, state })
}

export function move(db: Database, operation: string, from: OperationState, to: OperationState, now: number): boolean {
  return (
    db
      .statement('UPDATE operation SET state = ?, updated_at = ? WHERE op_id = ? AND state = ?')
      .run(to, now, operation, from).changes === 1
  )
}

/** Writes the raw outcome of an attempt. Writing the same outcome twice, after a fault, changes nothing. */
export function settleOperation(
  db: Database,
  chain: Chain,
  operation: string,
  outcome: Outcome,
  steps: readonly Step[],
  now: number,
): void {
  const changed = db
    .statement(
      `UPDATE operation SET state = ?, standing = ?, why = ?, error_kind = ?, receipt_ref = ?, result_bytes = ?, wall_ms = ?,
       updated_at = ? WHERE op_id = ? AND state = 'dispatched'`,
    )
    .run(
      outcome.state,
      outcome.standing ?? null,
      outcome.why ?? null,
      outcome.errorKind,
      outcome.receiptRef ?? null,
      outcome.result?.length ?? 0,
      Math.round(outcome.wallMs),
      now,
      operation,
    )
  if (changed.changes !== 1) return
  const answered = outcome.result !== undefined || outcome.standing === 'answered' || outcome.state !== 'unknown'
  endAttempt(
    db,
    operation,
    { sent: answered ? 'yes' : 'maybe', outcome: outcome.state, errorKind: outcome.errorKind },
    now,
  )
  const row = db.statement('SELECT tenant, principal, tool FROM operation WHERE op_id = ?').get(operation) as Row
  const tenant = String(row['tenant'])
  const principal = String(row['principal'])
  chain.append(db, {
    kind: outcome.state === 'unknown' ? 'op.unknown' : 'op.outcome',
    at: now,
    operation,
    tenant,
    principal,
    tool: String(row['tool']),
    path: ['dispatched', outcome.state],
    ...(outcome.result === undefined
      ? {}
      : { commitments: { result: keepPayload(db, { tenant, principal }, operation, 'result', outcome.result) } }),
    steps,
    facts: {
      errorKind: outcome.errorKind,
      ...(outcome.why === undefined ? {} : { why: outcome.why, standing: outcome.standing ?? null }),
      ...(outcome.receiptRef === undefined ? {} : { receipt: outcome.receiptRef }),
    },
  })
}

/**
 * A read leaves one event, when it is over, and no row among the operations: nothing about it has to be guarded, and each
 * row there costs more than all else of a read's record.
 */
export function readOperation(
  db: Database,
  chain: Chain,
  action: AuthorisedAction,
  operation: string,
  outcome: Outcome,
  steps: readonly Step[],
  now: number,
): void {
  const { proposal } = action
  const conversation = proposal.origin.conversation ?? proposal.origin.session
  const salts = db.vault.keyFor(subjectOf(action)).salts(operation)
  const read: Read = {
    kind: 'op.read',
    at: now,
    operation,
    ...common(action),
    commitments: {
      arguments: commitment(salts.arguments, proposal.canonical),
      ...(outcome.result === undefined ? {} : { result: commitment(salts.result, outcome.result) }),
    },
    facts: {
      wallMs: Math.round(outcome.wallMs),
      bytes: outcome.result?.length ?? 0,
      ...(conversation === undefined ? {} : { conversation }),
      ...(outcome.why === undefined ? {} : { why: outcome.why }),
    },
  }
  const path: readonly OperationState[] =
    outcome.state === 'expired'
      ? ['proposed', 'authorised', 'dispatched', 'authorised', 'expired']
      : ['proposed', 'authorised', 'dispatched', outcome.state]
  chain.appendRead(db, read, { path, steps })
}
