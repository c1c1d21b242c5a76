import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { ExportHeader, ExportTrailer, Judgement } from '../../flow/evidence/index.ts'
import { exportFormat } from '../../flow/evidence/index.ts'
import { LedgerFault } from '../../flow/side-effect/ledger.ts'
import { newId } from '../../words/id.ts'
import { endAttempt } from './attempts.ts'
import { Chain, signingKey } from './chain.ts'
import { Database, type Row } from './database.ts'
import { SqliteLedger } from './ledger.ts'
import { move } from './operations.ts'
import { OutsideHead } from './outside.ts'
import { ledgerFile, verifyLedger } from './verify.ts'
import { Writer } from './writer.ts'

export interface LedgerOptions {
  readonly repeatWindowMs: number
  readonly reads: 'grouped' | 'strict'
  readonly checkpointEvery: number
  readonly checkpointMs: number
}

export interface OpenLedger {
  readonly ledger: SqliteLedger
  /** What was found at the start. Anything but `valid` keeps the ledger closed to every call. */
  readonly judgement: Judgement
  /** Operations that were under way when the last process ended, now `unknown`. */
  readonly recovered: readonly string[]
  /** Set while the ledger cannot be written; then nothing is dispatched. */
  broken(): string | undefined
  size(): number
  /** How many records the newest checkpoint of this process covers. */
  checkpointed(): number
  readonly publicKey: KeyObject
  /** Record lines, oldest first: the last `limit`, or those from `from` on; of one operation or approval where that is said. */
  records(filter: {
    readonly operation?: string
    readonly approval?: string
    readonly from?: number
    readonly limit: number
  }): readonly string[]
  checkpoint(): Promise<string>
  exportLines(): AsyncGenerator<string>
  close(): Promise<void>
}

/** Opens the ledger of a home, and makes it where there is none. Throws a LedgerFault when its settings do not take. */
export function openLedger(home: string, options: LedgerOptions): OpenLedger {
  const file = ledgerFile(home)
  const fresh = !existsSync(file)
  // Read what is outside before anything is written: a ledger that is gone is no fresh start.
  const before = verifyLedger(home)
  const key = signingKey(home)
  const db = new Database(file)
  const meta = (name: string, make: () => string): string => {
    const row = db.statement('SELECT v FROM meta WHERE k = ?').get(name) as Row | undefined
    if (row !== undefined) return String(row['v'])
    const value = make()
    db.statement('INSERT INTO meta(k, v) VALUES (?, ?)').run(name, value)
    return value
  }
  const ledgerId = meta('ledger', () => newId('op').slice(3))
  const secret = Buffer.from(
    meta('upstream-key-secret', () => randomBytes(32).toString('hex')),
    'hex',
  )
  const chain = Chain.load(db, ledgerId)
  const judgement: Judgement =
    fresh && before.verdict === 'unjudgeable' ? { verdict: 'valid', records: 0, why: [] } : before
  const outside = new OutsideHead(home)
  const writer = new Writer({
    open: () => new Database(file),
    db,
    chain,
    outside,
    key,
    checkpointEvery: options.checkpointEvery,
    checkpointed: chain.size,
  })
  const ledger = new SqliteLedger(writer, {
    secret,
    repeatWindowMs: options.repeatWindowMs,
    reads: options.reads,
    ...(judgement.verdict === 'valid' ? {} : { rolledBack: judgement.why.join('; ') }),
  })
  const recovered = judgement.verdict === 'valid' ? recover(db, chain) : []
  let signed = chain.size
  const timer = setInterval(() => {
    if (writer.broken !== undefined || writer.size === signed || judgement.verdict !== 'valid') return
    signed = writer.size
    writer.checkpoint().catch(() => (signed = -1))
  }, options.checkpointMs)
  timer.unref()

  // Nothing is signed over a ledger that was found wanting: the head outside would forget what it should have held.
  const sign = (): Promise<string> =>
    judgement.verdict === 'valid'
      ? writer.checkpoint()
      : Promise.reject(new LedgerFault('LEDGER_ROLLED_BACK', judgement.why.join('; ')))

  async function* exportLines(): AsyncGenerator<string> {
    const note = await sign()
    const records = Number(note.split('\n')[1])
    const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
    const header: ExportHeader = { format: exportFormat, ledger: ledgerId, publicKey, exportedAt: Date.now() }
    yield JSON.stringify(header)
    // Page by page: an open read would keep the log from being truncated.
    for (let from = 0; from < records; from += 500) {
      const page = writer.db
        .statement('SELECT record FROM event WHERE seq >= ? AND seq < ? ORDER BY seq')
        .all(from, Math.min(from + 500, records)) as Row[]
      for (const row of page) yield String(row['record'])
    }
    const trailer: ExportTrailer = { records, checkpoint: note }
    yield JSON.stringify(trailer)
  }

  return {
    ledger,
    judgement,
    recovered,
    broken: () => writer.broken,
    size: () => writer.size,
    checkpointed: () => writer.checkpointed,
    publicKey: createPublicKey(key),
    records: (filter) => readRecords(writer.db, filter),
    checkpoint: sign,
    exportLines,
    close: async () => {
      clearInterval(timer)
      await writer.close(judgement.verdict === 'valid')
    },
  }
}

/**
 * What was under way when the last process ended. Its bytes may have left, so nobody knows: unknown, never failed, and
 * never sent again from here. Running it twice changes nothing.
 */
function recover(db: Database, chain: Chain): readonly string[] {
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

function readRecords(
  db: Database,
  { operation, approval, from, limit }: { operation?: string; approval?: string; from?: number; limit: number },
): readonly string[] {
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
