import type { ErrorKind } from '../../flow/side-effect/error-kind.ts'
import type { AttemptRow } from '../../flow/side-effect/ledger.ts'
import type { Database, Row } from './database.ts'

/** Statements on attempts and their legs. Each function runs inside a transaction of the writer's. */

/** Before a byte of it leaves: from here on it may have. */
export function beginAttempt(
  db: Database,
  operation: string,
  attempt: { readonly n: number; readonly leg?: number; readonly upstreamKey: string; readonly deadlineMs: number },
  now: number,
): void {
  db.statement(
    'INSERT INTO attempt(op_id, n, leg, upstream_key, started_at, deadline_at) VALUES (?, ?, ?, ?, ?, ?)',
  ).run(operation, attempt.n, attempt.leg ?? 1, attempt.upstreamKey, now, now + attempt.deadlineMs)
}

/** `sent` no needs a proof, yes an answer; what ends without either stays a maybe. */
export function endAttempt(
  db: Database,
  operation: string,
  end: { readonly sent: 'no' | 'maybe' | 'yes'; readonly outcome: string; readonly errorKind: ErrorKind },
  now: number,
): void {
  db.statement(
    'UPDATE attempt SET sent = ?, outcome = ?, error_kind = ?, ended_at = ? WHERE op_id = ? AND ended_at IS NULL',
  ).run(end.sent, end.outcome, end.errorKind, now, operation)
}

/** It is proved or decided that no attempt so far took effect, nor can any more. */
export function clearAttempts(db: Database, operation: string): void {
  db.statement("UPDATE attempt SET outcome = 'none' WHERE op_id = ? AND sent <> 'no' AND ended_at IS NOT NULL").run(
    operation,
  )
}

export function readAttempts(db: Database, operation: string): readonly AttemptRow[] {
  const rows = db.statement('SELECT * FROM attempt WHERE op_id = ? ORDER BY n, leg').all(operation) as Row[]
  return rows.map((row) => ({
    n: Number(row['n']),
    leg: Number(row['leg']),
    upstreamKey: String(row['upstream_key']),
    startedAt: Number(row['started_at']),
    deadlineAt: Number(row['deadline_at']),
    sent: row['sent'] as AttemptRow['sent'],
    ...(row['task_ref'] === null ? {} : { taskRef: String(row['task_ref']) }),
    ...(row['ended_at'] === null ? {} : { endedAt: Number(row['ended_at']) }),
    ...(row['outcome'] === null ? {} : { outcome: String(row['outcome']) }),
    ...(row['error_kind'] === null ? {} : { errorKind: row['error_kind'] as ErrorKind }),
  }))
}
