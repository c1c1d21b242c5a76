import type { Earlier } from '../../flow/consent/consented.ts'
import type { Scoped } from '../../flow/resource/scoped.ts'
import type { OperationRow } from '../../flow/side-effect/ledger.ts'
import type { Database, Row } from './database.ts'
import { operationOf } from './rows.ts'

/** The same call before: one that is open or unknown however old, one that is settled if it was since then. */
export function earlierCall(db: Database, scoped: Scoped, since: number): Earlier | undefined {
  const { effect } = scoped.tool.profile
  if (effect !== 'once' && effect !== 'keyed') return undefined
  const rows = db
    .statement(
      `SELECT * FROM operation WHERE tenant = ? AND principal = ? AND tool = ? AND arguments_digest = ?
       AND effect IN ('keyed', 'once') ORDER BY created_at DESC LIMIT 20`,
    )
    .all(scoped.principal.tenant, scoped.principal.id, scoped.tool.key, scoped.proposal.digest) as Row[]
  let settled: Earlier | undefined
  for (const row of rows.map(operationOf)) {
    if (row.scopesDigest !== scoped.scopesDigest) continue
    const standing = standingOf(row)
    if (standing === undefined) continue
    const found = { operation: row.id, state: row.state, standing, at: row.updatedAt }
    if (standing !== 'settled') return found
    // An error of the tool's, effect unknown, stays a question for as long as it is one.
    if (row.state === 'unknown' || row.updatedAt > since) settled ??= found
  }
  return settled
}

function standingOf(row: OperationRow): Earlier['standing'] | undefined {
  switch (row.state) {
    case 'proposed':
    case 'authorised':
    case 'dispatched':
    case 'working':
    case 'input_required':
      return 'running'
    case 'held':
      return 'unknown'
    case 'unknown':
      return row.standing === 'silent' ? 'unknown' : 'settled'
    case 'succeeded':
    case 'reconciled_effect':
    case 'compensating':
    case 'compensation_failed':
    case 'compensated':
      return 'settled'
    // Known to have had no effect: the same call is a first one.
    case 'denied':
    case 'expired':
    case 'failed':
    case 'reconciled_none':
    case 'abandoned':
      return undefined
    default:
      return row.state satisfies never
  }
}
