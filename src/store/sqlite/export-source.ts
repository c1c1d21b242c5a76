import type { KeyObject } from 'node:crypto'
import { type ExportSource, fingerprint } from '../../flow/evidence/index.ts'
import { commitment } from '../../words/digest.ts'
import type { Row } from './database.ts'
import { openPayload } from './payloads.ts'
import type { Writer } from './writer.ts'

/** What an export of this ledger is read from: a page at a time, since an open read would keep the log from being truncated. */
export function exportSource(
  writer: Writer,
  {
    epochs,
    ...signed
  }: {
    readonly ledger: string
    readonly key: KeyObject
    readonly epochs: readonly string[]
    readonly checkpoint: string
  },
): ExportSource {
  const page = (column: 'record' | 'leaf', from: number, to: number): readonly string[] =>
    (
      writer.db
        .statement(`SELECT ${column} AS it FROM event WHERE seq >= ? AND seq < ? ORDER BY seq`)
        .all(from, to) as Row[]
    ).map((row) => String(row['it']))
  const size = Number(signed.checkpoint.split('\n')[1])
  return {
    ...signed,
    keys: epochs.map((publicKey) => ({ id: fingerprint(publicKey), publicKey })),
    earlier: (
      writer.db.statement('SELECT note FROM checkpoint WHERE size < ? ORDER BY size DESC LIMIT 32').all(size) as Row[]
    ).map((row) => String(row['note'])),
    lines: (from, to) => page('record', from, to),
    leaves: (from, to) => page('leaf', from, to),
    payload: (operation, role, committed) => {
      const opened = openPayload(writer.db, operation, role)
      if (opened === undefined || opened === 'erased') return opened
      return commitment(opened.salt, opened.body) === committed ? opened : undefined
    },
  }
}
