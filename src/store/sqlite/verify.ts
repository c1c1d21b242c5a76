import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Checkpoint,
  ChainReader,
  type EvidenceRecord,
  fingerprint,
  type Judgement,
  openCheckpoint,
  rawKey,
} from '../../flow/evidence/index.ts'
import { Database, type Row } from './database.ts'
import { readCheckpoints, readHead } from './outside.ts'
import { epochsOf, stagedKey } from './signing-keys.ts'
import { KeyLine, keyOf } from '../../verifier/keys.ts'
import { ExpectedPayloads } from './verify-payloads.ts'
import { ExpectedRows } from './verify-rows.ts'
import { strangeSchema } from './verify-schema.ts'
import { FileVault } from '../vault.ts'

export function ledgerFile(home: string): string {
  return join(home, 'ledger.db')
}

/**
 * Judges the live ledger of a home: every record against the chain, the chain against every checkpoint, inside and
 * outside, against the outside head, and every operation's row and payload against its events. Opens it for reading only.
 */
export function verifyLedger(home: string): Judgement {
  const file = ledgerFile(home)
  const epochs = epochsOf(home)
  if (!existsSync(file)) {
    const gone = readHead(home) !== undefined
    return gone
      ? { verdict: 'tampered', records: 0, firstBad: 0, why: ['the ledger is gone, and its head is still there'] }
      : { verdict: 'unjudgeable', records: 0, why: ['there is no ledger in this home'] }
  }
  if (epochs.length === 0) return { verdict: 'unjudgeable', records: 0, why: ['the public key is missing'] }
  if (!existsSync(join(home, 'keys', 'master.key')))
    return { verdict: 'unjudgeable', records: 0, why: ['the key that opens the payloads (keys/master.key) is missing'] }
  let db: Database
  try {
    db = new Database(file, FileVault.at(home), 'read')
  } catch (fault) {
    return unreadable(fault)
  }
  try {
    return judge(db, home, epochs)
  } catch (fault) {
    return unreadable(fault)
  } finally {
    db.close()
  }
}

// SQLITE_PERM, READONLY, CANTOPEN: this process may not look, which says nothing about what is there.
const MAY_NOT_LOOK: readonly unknown[] = [3, 8, 14]

function unreadable(fault: unknown): Judgement {
  const barred = MAY_NOT_LOOK.includes((fault as { errcode?: unknown }).errcode)
  const why = [`the ledger cannot be read: ${messageOf(fault)}`]
  return barred ? { verdict: 'unjudgeable', records: 0, why } : { verdict: 'tampered', records: 0, firstBad: 0, why }
}

function judge(db: Database, home: string, epochs: readonly string[]): Judgement {
  // A key that is handed on and whose files were not yet put in place when the process ended.
  const staged = stagedKey(home)
  const keys = [...epochs, ...(staged === undefined ? [] : [rawKey(staged)])].map(keyOf)
  const objects = keys.map(({ object }) => object)
  const key = epochs.at(-1)!
  // An index that misses a row hides an open operation from the next claim, and no record is wrong.
  const sound = Object.values(db.statement('PRAGMA integrity_check(1)').get() as Row)[0]
  if (sound !== 'ok') return { verdict: 'tampered', records: 0, why: [`the file is damaged: ${String(sound)}`] }
  const chain = new ChainReader()
  const expected = new ExpectedRows()
  const payloads = new ExpectedPayloads()
  // What is outside is read first, and then one state of the ledger: under traffic it can only have grown since.
  const head = readHead(home)
  const outside = readCheckpoints(home)
  db.exec('BEGIN')
  const ledger = (db.statement("SELECT v FROM meta WHERE k = 'ledger'").get() as Row | undefined)?.['v']
  const inside = db.statement('SELECT size, root, note FROM checkpoint ORDER BY size').all() as Row[]
  const notes = [...inside.map((row) => String(row['note'])), ...outside]
  const bySize = new Map<number, Checkpoint[]>()
  const bad = (why: string, firstBad = chain.size): Judgement => ({
    verdict: 'tampered',
    records: chain.size,
    firstBad,
    why: [why],
    key: fingerprint(key),
  })
  for (const [n, note] of notes.entries()) {
    const checkpoint = openCheckpoint(note, objects)
    if ('wrong' in checkpoint) return bad(`a checkpoint does not hold: ${checkpoint.wrong}`)
    const row = inside[n]
    if (row !== undefined && (row['size'] !== checkpoint.size || row['root'] !== checkpoint.root))
      return bad('a checkpoint is filed as another one')
    bySize.set(checkpoint.size, [...(bySize.get(checkpoint.size) ?? []), checkpoint])
  }
  if (head === 'unreadable') return bad('the head outside the ledger cannot be read')
  let newest: Checkpoint | undefined
  let handedOn: KeyLine | undefined
  const meet = (): string | undefined => {
    for (const checkpoint of bySize.get(chain.size) ?? []) {
      if (checkpoint.root !== chain.frontier.root()) return `checkpoint ${chain.size} was signed over other records`
      newest = checkpoint
    }
    if (head?.size === chain.size && chain.size > 0 && head.leaf !== chain.head)
      return 'the head outside the ledger is another one'
    return undefined
  }
  for (const row of db
    .statement('SELECT seq, op_id, kind, at, record, leaf FROM event ORDER BY seq')
    .iterate() as Iterable<Row>) {
    const line = String(row['record'])
    const wrong = Number(row['seq']) === chain.size ? chain.read(line) : `record ${chain.size} is missing`
    if (wrong !== undefined) return bad(wrong)
    if (row['leaf'] !== chain.head) return bad(`record ${chain.size - 1} has another leaf beside it`, chain.size - 1)
    const unlike = meet()
    if (unlike !== undefined) return bad(unlike, chain.size - 1)
    const record = JSON.parse(line) as EvidenceRecord
    if (row['kind'] !== record.kind || row['at'] !== record.at || row['op_id'] !== (record.operation ?? null))
      return bad(`record ${record.seq} is filed as another one`, record.seq)
    if (record.ledger !== ledger) return bad('the records are of another ledger than the database', record.seq)
    if (record.kind === 'ledger.key') {
      handedOn ??= new KeyLine(record.ledger, keys)
      const strange = handedOn.read(record.facts)
      if (strange !== undefined) return bad(strange, chain.size - 1)
    }
    expected.note(record)
    payloads.note(record)
  }
  if (epochs.length > 1 && (handedOn?.epoch ?? 1) < epochs.length) return bad('there is a key that no record hands on')
  const largest = Math.max(head?.size ?? 0, ...bySize.keys())
  if (largest > chain.size)
    return bad(
      `the ledger ends at record ${chain.size}, and ${largest} were signed or seen: its end is cut off, or an old copy was put back`,
    )
  const rows = expected.wrong(db, payloads.destroyed) ?? payloads.wrong(db) ?? strangeSchema(db)
  if (rows !== undefined) return bad(rows)
  return {
    verdict: 'valid',
    records: chain.size,
    why: [],
    key: fingerprint(key),
    ...(payloads.erased === 0 ? {} : { erased: payloads.erased }),
    ...(newest === undefined ? {} : { checkpoint: newest }),
  }
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
