import { endAttempt } from './attempts.ts'
import type { Chain } from './chain.ts'
import type { Database, Row } from './database.ts'
import { move } from './operations.ts'

/**
 * What was under way when the last process ended. Its bytes may have left, so nobody knows: unknown, never failed, and
 * never sent again from here. Running it twice changes nothing.
 */
export function recover(db: Database, chain: Chain): readonly string[] {
  const now = Date.now()
  const undo = chain.mark()
  const recovered: string[] = []
  db.synchronise(true)
  db.exec('BEGIN IMMEDIATE')
  try {
    const open = db
      .statement(
        "SELECT op_id, state, tenant, principal, tool FROM operation WHERE state IN ('proposed', 'authorised', 'dispatched', 'working', 'input_required')",
      )
      .all() as Row[]
    for (const row of open) {
      const operation = String(row['op_id'])
      const who = { tenant: String(row['tenant']), principal: String(row['principal']), tool: String(row['tool']) }
      if (row['state'] === 'proposed' || row['state'] === 'authorised') {
        const from = row['state']
        move(db, operation, from, 'expired', now)
        chain.append(db, {
          kind: 'op.expired',
          at: now,
          operation,
          ...who,
          path: [from, 'expired'],
          facts: { why: 'the gateway ended before it was sent' },
        })
        continue
      }
      const from = row['state'] as 'dispatched' | 'working' | 'input_required'
      db.statement(
        "UPDATE operation SET standing = 'silent', error_kind = 'E8', why = 'the gateway ended while it was under way', next_due = ? WHERE op_id = ?",
      ).run(now, operation)
      if (from !== 'input_required')
        endAttempt(db, operation, { sent: 'maybe', outcome: 'unknown', errorKind: 'E8' }, now)
      move(db, operation, from, 'unknown', now)
      chain.append(db, {
        kind: 'op.unknown',
        at: now,
        operation,
        ...who,
        path: [from, 'unknown'],
        facts: { why: 'crash', standing: 'silent' },
      })
      recovered.push(operation)
    }
    // One whose process ended between the record of its outcome and the plan to look after it.
    db.statement(
      "UPDATE operation SET next_due = ? WHERE state = 'unknown' AND standing = 'silent' AND next_due IS NULL",
    ).run(now)
    db.exec('COMMIT')
  } catch (fault) {
    undo()
    db.exec('ROLLBACK')
    throw fault
  }
  return recovered
}
