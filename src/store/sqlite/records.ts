import { type EvidenceRecord, unfolded } from '../../flow/evidence/index.ts'
import type { Database, Row } from './database.ts'

/** Record lines, oldest first: the last `limit`, or those from `from` on; of one operation or approval where that is said. */
export interface RecordFilter {
  readonly operation?: string
  readonly approval?: string
  readonly from?: number
  readonly limit: number
}

export function readRecords(db: Database, { operation, approval, from, limit }: RecordFilter): readonly string[] {
  const where = ['seq >= ?']
  const values: (string | number)[] = [from ?? 0]
  if (operation !== undefined) {
    where.push('op_id = ?')
    values.push(operation)
  }
  if (approval !== undefined) {
    where.push("json_extract(record, '$.approval') = ?")
    values.push(approval)
  }
  // Without a beginning the newest are wanted, and yet in their order.
  const newest = from === undefined
  const rows = db
    .statement(`SELECT record FROM event WHERE ${where.join(' AND ')} ORDER BY seq ${newest ? 'DESC' : ''} LIMIT ?`)
    .all(...values, limit) as Row[]
  const lines = rows.map((row) => String(row['record']))
  return newest ? lines.toReversed() : lines
}

/** A record with all that it refers to. */
export function unfoldedLine(db: Database, line: string): EvidenceRecord {
  return unfolded(JSON.parse(line) as EvidenceRecord, (seq) => {
    const row = db.statement('SELECT record FROM event WHERE seq = ?').get(seq) as Row | undefined
    return row && (JSON.parse(String(row['record'])) as EvidenceRecord)
  })
}
