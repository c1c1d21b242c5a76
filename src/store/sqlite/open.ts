import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  type EvidenceRecord,
  type ExportFilter,
  exportLines,
  fingerprint,
  type Judgement,
  type Subject,
} from '../../flow/evidence/index.ts'
import { LedgerFault } from '../../flow/side-effect/ledger.ts'
import { newId } from '../../words/id.ts'
import { Chain } from './chain.ts'
import { FileVault } from '../vault.ts'
import { Database, type Row } from './database.ts'
import { SqliteLedger } from './ledger.ts'
import { eraseSubject, finishErasures } from './erase.ts'
import { exportSource } from './export-source.ts'
import { OutsideHead } from './outside.ts'
import { type RecordFilter, readRecords, unfoldedLine } from './records.ts'
import { recover } from './recover.ts'
import { rotate, settleKeys } from './key-epochs.ts'
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
  /** The newest. */
  readonly publicKey: KeyObject
  records(filter: RecordFilter): readonly string[]
  /** The last thousand records of an operation, each with all that it refers to. */
  happenings(operation: string): readonly EvidenceRecord[]
  checkpoint(): Promise<string>
  exportLines(wanted?: { readonly filter?: ExportFilter; readonly payloads?: boolean }): AsyncGenerator<string>
  /** Destroys the key of all that is kept of a principal: what it was is gone, that it was stays provable. */
  erase(
    subject: Subject,
    reason: { readonly by: string; readonly why: string },
  ): Promise<{ readonly keys: readonly string[] } | undefined>
  /** Makes the next signing key, has the old one sign it, and forgets the old one. Answers the new fingerprint. */
  rotateKey(): Promise<string>
  close(): Promise<void>
}

/** Opens the ledger of a home, and makes it where there is none. Throws a LedgerFault when its settings do not take. */
export function openLedger(home: string, options: LedgerOptions): OpenLedger {
  const file = ledgerFile(home)
  const fresh = !existsSync(file)
  // Read what is outside before anything is written: a ledger that is gone is no fresh start.
  const before = verifyLedger(home)
  const vault = FileVault.open(home)
  const db = new Database(file, vault)
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
  let keys = settleKeys(home, db, chain, judgement.verdict === 'valid')
  if (judgement.verdict === 'valid') finishErasures(db, vault)
  const outside = new OutsideHead(home)
  const writer = new Writer({
    open: () => new Database(file, vault),
    db,
    chain,
    outside,
    key: keys.key,
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

  return {
    ledger,
    judgement,
    recovered,
    broken: () => writer.broken,
    size: () => writer.size,
    checkpointed: () => writer.checkpointed,
    get publicKey() {
      return createPublicKey(keys.key)
    },
    records: (filter) => readRecords(writer.db, filter),
    happenings: (operation) =>
      readRecords(writer.db, { operation, limit: 1000 }).map((line) => unfoldedLine(writer.db, line)),
    checkpoint: sign,
    exportLines: async function* (wanted = {}) {
      yield* exportLines(exportSource(writer, { ledger: ledgerId, ...keys, checkpoint: await sign() }), wanted)
    },
    erase: (subject, reason) => eraseSubject(writer, vault, subject, reason),
    rotateKey: async () => {
      keys = await rotate(home, writer, ledgerId, keys)
      await sign()
      return fingerprint(keys.epochs.at(-1)!)
    },
    close: async () => {
      clearInterval(timer)
      await writer.close(judgement.verdict === 'valid')
    },
  }
}
