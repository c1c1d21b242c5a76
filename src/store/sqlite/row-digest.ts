import { digest } from '../../words/digest.ts'
import type { Database, Row } from './database.ts'

/**
 * Digest of everything that the row of an operation holds, but for `next_due`, which is a plan and changes without an event.
 * It goes on record with each event of the operation: the times, counts and reasons of the row are held to it. Columns that
 * are null are left out, so that a migration may add one.
 */
export function rowDigest(row: Row): string {
  const held: [string, string | number][] = []
  for (const name of Object.keys(row).toSorted()) {
    const value = row[name]
    if (value === null || value === undefined || name === 'next_due') continue
    held.push([name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value as string | number)])
  }
  return digest(JSON.stringify(held))
}

export function digestOfOperation(db: Database, operation: string): string | undefined {
  const row = db.statement('SELECT * FROM operation WHERE op_id = ?').get(operation) as Row | undefined
  return row && rowDigest(row)
}
