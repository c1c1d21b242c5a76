import { createHmac } from 'node:crypto'
import { commitment } from '../../words/digest.ts'
import { newId, randomSalt } from '../../words/id.ts'
import { refuse, type Refusal } from '../../words/verdict.ts'
import type { AuthorisedAction } from '../../flow/action/index.ts'
import type { Happening } from '../../flow/evidence/index.ts'
import type { Step } from '../../flow/line.ts'
import type { Claim, OperationRow, Outcome } from '../../flow/side-effect/ledger.ts'
import type { OperationState } from '../../flow/side-effect/operation.ts'
import type { Chain } from './chain.ts'
import type { Database, Row } from './database.ts'
import { operationOf, readOf } from './rows.ts'

/** Statements on the operation table. Each function runs inside a transaction of the writer's. */

export function findOperation(db: Database, id: string): OperationRow | undefined {
  const row = db.statement('SELECT * FROM operation WHERE op_id = ?').get(id) as Row | undefined
  if (row !== undefined) return operationOf(row)
  const read = db.statement("SELECT record FROM event WHERE op_id = ? AND kind = 'op.read'").get(id) as Row | undefined
  return read === undefined ? undefined : readOf(String(read['record']))
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
  pin, policy_version, state, standing, attempts, upstream_key, approval, repeat_of, why, result_bytes, wall_ms, salt,
  created_at, updated_at, dispatched_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

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
    if (earlier !== undefined) return keyTaken(db, earlier, action)
  }
  // Nobody was asked, since the key named an operation; by now it names none.
  if (action.consent.kind === 'under-key') return refuse('AUTHORISATION_STALE', { operation: action.consent.operation })
  if (tool.profile.effect === 'once' || tool.profile.effect === 'keyed') {
    const open = openTwin(db, action)
    if (open !== undefined) return open
  }
  const operation = newId('op', now)
  const salt = randomSalt(16)
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
    salt,
    now,
    now,
    now,
  )
  if (action.consent.kind === 'approved') {
    const used = db
      .statement(
        "UPDATE approval SET state = 'used', used_by = ? WHERE approval_id = ? AND state = 'granted' AND expires_at > ?",
      )
      .run(operation, action.consent.approval, now)
    // Thrown, not returned: the row above has to go again.
    if (used.changes !== 1) throw new Stale('the approval was used, withdrawn or has expired')
  }
  move(db, operation, 'proposed', 'authorised', now)
  move(db, operation, 'authorised', 'dispatched', now)
  db.statement("INSERT INTO payload(op_id, role, body) VALUES (?, 'arguments', ?)").run(
    operation,
    Buffer.from(proposal.canonical, 'utf8'),
  )
  chain.append(db, {
    kind: 'op.dispatched',
    at: now,
    operation,
    ...common(action),
    path: ['proposed', 'authorised', 'dispatched'],
    attempt: 1,
    commitments: { arguments: commitment(salt, proposal.canonical) },
    steps,
    // No step says them, and a later claim relies on them.
    facts: { effect: tool.profile.effect, requestKey: requestKey ?? null },
  })
  return { kind: 'claimed', operation, attempt: 1, upstreamKey }
}

/** A guard inside the transaction failed; the refusal goes to the caller, the job is undone. */
export class Stale extends Error {}

function keyTaken(db: Database, earlier: OperationRow, action: AuthorisedAction): Claim {
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
      `UPDATE operation SET state = ?, standing = ?, why = ?, result_bytes = ?, wall_ms = ?, updated_at = ?
       WHERE op_id = ? AND state = 'dispatched'`,
    )
    .run(
      outcome.state,
      outcome.standing ?? null,
      outcome.why ?? null,
      outcome.result?.length ?? 0,
      Math.round(outcome.wallMs),
      now,
      operation,
    )
  if (changed.changes !== 1) return
  const row = db.statement('SELECT salt, tenant, principal, tool FROM operation WHERE op_id = ?').get(operation) as Row
  if (outcome.result !== undefined)
    db.statement("INSERT INTO payload(op_id, role, body) VALUES (?, 'result', ?)").run(operation, outcome.result)
  chain.append(db, {
    kind: outcome.state === 'unknown' ? 'op.unknown' : 'op.outcome',
    at: now,
    operation,
    tenant: String(row['tenant']),
    principal: String(row['principal']),
    tool: String(row['tool']),
    path: ['dispatched', outcome.state],
    ...(outcome.result === undefined
      ? {}
      : { commitments: { result: commitment(row['salt'] as Uint8Array, outcome.result) } }),
    steps,
    ...(outcome.why === undefined ? {} : { facts: { why: outcome.why, standing: outcome.standing ?? null } }),
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
  const salt = randomSalt(16)
  const { proposal } = action
  const happening: Happening = {
    kind: 'op.read',
    at: now,
    operation,
    ...common(action),
    path:
      outcome.state === 'expired'
        ? ['proposed', 'authorised', 'dispatched', 'authorised', 'expired']
        : ['proposed', 'authorised', 'dispatched', outcome.state],
    commitments: {
      arguments: commitment(salt, proposal.canonical),
      ...(outcome.result === undefined ? {} : { result: commitment(salt, outcome.result) }),
    },
    steps,
    facts: {
      wallMs: Math.round(outcome.wallMs),
      bytes: outcome.result?.length ?? 0,
      ...(outcome.why === undefined ? {} : { why: outcome.why }),
    },
  }
  chain.append(db, happening, salt)
}

export function readPayload(db: Database, operation: string, role: 'arguments' | 'result'): Uint8Array | undefined {
  const row = db.statement('SELECT body FROM payload WHERE op_id = ? AND role = ?').get(operation, role) as
    | Row
    | undefined
  return row === undefined ? undefined : (row['body'] as Uint8Array)
}
