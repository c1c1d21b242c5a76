import type { OperationRow } from '../../flow/side-effect/ledger.ts'
import type { OperationState } from '../../flow/side-effect/operation.ts'
import type { Chain } from './chain.ts'
import type { Database } from './database.ts'
import { findOperation, move } from './operations.ts'

/** Statements on what undoes and is undone. Each function runs inside a transaction of the writer's. */

const undoable: readonly OperationState[] = ['succeeded', 'reconciled_effect', 'compensation_failed']

/** Why an operation cannot be undone now; undefined where it can. What is unknown is never undone: it is found out first. */
export function notUndoable(parent: OperationRow | undefined): string | undefined {
  if (parent === undefined) return 'there is no such operation'
  return undoable.includes(parent.state) ? undefined : `it is ${parent.state}`
}

/** In the transaction in which the intent to undo it is written. */
export function beginCompensation(db: Database, chain: Chain, parent: OperationRow, child: string, now: number): void {
  db.statement('UPDATE operation SET reverses = ? WHERE op_id = ?').run(parent.id, child)
  db.statement('UPDATE operation SET compensated_by = ? WHERE op_id = ?').run(child, parent.id)
  step(db, chain, parent, 'compensating', 'op.compensating', child, now)
}

const noEffect: readonly OperationState[] = ['failed', 'expired', 'denied', 'abandoned', 'reconciled_none']

export function finishCompensation(db: Database, chain: Chain, child: OperationRow, now: number): void {
  const parent = child.reverses === undefined ? undefined : findOperation(db, child.reverses)
  if (parent?.state !== 'compensating' || parent.compensatedBy !== child.id) return
  const happened = child.state === 'succeeded' || child.state === 'reconciled_effect'
  if (happened && child.acceptance === 'met') step(db, chain, parent, 'compensated', 'op.compensated', child.id, now)
  else if (noEffect.includes(child.state) || (happened && child.acceptance !== 'pending'))
    step(db, chain, parent, 'compensation_failed', 'op.compensation_failed', child.id, now)
}

function step(
  db: Database,
  chain: Chain,
  parent: OperationRow,
  to: OperationState,
  kind: 'op.compensating' | 'op.compensated' | 'op.compensation_failed',
  child: string,
  now: number,
): void {
  if (!move(db, parent.id, parent.state, to, now)) return
  const { tenant, principal, tool } = parent
  const who = { tenant, principal, tool }
  chain.append(db, { kind, at: now, operation: parent.id, ...who, path: [parent.state, to], facts: { by: child } })
}
