import { existsSync } from 'node:fs'
import { FileVault } from '../vault.ts'
import { Database, type Row } from './database.ts'
import { ledgerFile } from './verify.ts'

/**
 * Record lines of the ledger of a home from the first to the last, whether or not a gateway writes to it. Opens it for
 * reading only, a page at a time. None where there is no ledger.
 */
export function* ledgerLines(home: string): Generator<string> {
  if (!existsSync(ledgerFile(home))) return
  const db = new Database(ledgerFile(home), FileVault.at(home), 'read')
  try {
    const page = db.statement('SELECT record FROM event WHERE seq >= ? ORDER BY seq LIMIT 500')
    for (let from = 0; ; from += 500) {
      const rows = page.all(from) as Row[]
      for (const row of rows) yield String(row['record'])
      if (rows.length < 500) return
    }
  } finally {
    db.close()
  }
}
