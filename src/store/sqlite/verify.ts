import { createPublicKey } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitment, digest } from '../../words/digest.ts'
import {
  type Checkpoint,
  ChainReader,
  type EvidenceRecord,
  fingerprint,
  type Judgement,
  openCheckpoint,
} from '../../flow/evidence/index.ts'
import { Database, type Row } from './database.ts'
import { readCheckpoints, readHead } from './outside.ts'
import { ExpectedRows } from './verify-rows.ts'

export function ledgerFile(home: string): string {
  return join(home, 'ledger.db')
}

/**
 * Judges the live ledger of a home: every record against the chain, the chain against every checkpoint, inside and
 * outside, against the outside head, and every operation's row and payload against its events. Opens it for reading only.
 */
export function verifyLedger(home: string): Judgement {
  const file = ledgerFile(home)
  const keyFile = join(home, 'keys', 'evidence.pub.pem')
  if (!existsSync(file)) {
    const gone = readHead(home) !== undefined
    return gone
      ? { verdict: 'tampered', records: 0, firstBad: 0, why: ['the ledger is gone, and its head is still there'] }
      : { verdict: 'unjudgeable', records: 0, why: ['there is no ledger in this home'] }
  }
  if (!existsSync(keyFile)) return { verdict: 'unjudgeable', records: 0, why: ['the public key is missing'] }
  let db: Database
  try {
    db = new Database(file, 'read')
  } catch (fault) {
    return unreadable(fault)
  }
  try {
    return judge(db, home, readFileSync(keyFile, 'utf8'))
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

function judge(db: Database, home: string, pem: string): Judgement {
  const key = createPublicKey(pem)
  // An index that misses a row hides an open operation from the next claim, and no record is wrong.
  const sound = Object.values(db.statement('PRAGMA integrity_check(1)').get() as Row)[0]
  if (sound !== 'ok') return { verdict: 'tampered', records: 0, why: [`the file is damaged: ${String(sound)}`] }
  const chain = new ChainReader()
  const states = new Map<string, string>()
  const expected = new ExpectedRows()
  const commitments = new Map<string, Committed>()
  // What is outside is read first, and then one state of the ledger: under traffic it can only have grown since.
  const head = readHead(home)
  const outside = readCheckpoints(home)
  db.exec('BEGIN')
  const inside = db.statement('SELECT note FROM checkpoint ORDER BY size').all() as Row[]
  const notes = [...inside.map((row) => String(row['note'])), ...outside]
  const bySize = new Map<number, Checkpoint[]>()
  const bad = (why: string, firstBad = chain.size): Judgement => ({
    verdict: 'tampered',
    records: chain.size,
    firstBad,
    why: [why],
    key: fingerprint(key),
  })
  for (const note of notes) {
    const checkpoint = openCheckpoint(note, key)
    if ('wrong' in checkpoint) return bad(`a checkpoint does not hold: ${checkpoint.wrong}`)
    bySize.set(checkpoint.size, [...(bySize.get(checkpoint.size) ?? []), checkpoint])
  }
  if (head === 'unreadable') return bad('the head outside the ledger cannot be read')
  let newest: Checkpoint | undefined
  const meet = (): string | undefined => {
    for (const checkpoint of bySize.get(chain.size) ?? []) {
      if (checkpoint.root !== chain.frontier.root()) return `checkpoint ${chain.size} was signed over other records`
      newest = checkpoint
    }
    if (head?.size === chain.size && chain.size > 0 && head.leaf !== chain.head)
      return 'the head outside the ledger is another one'
    return undefined
  }
  for (const row of db.statement('SELECT seq, record, leaf FROM event ORDER BY seq').iterate() as Iterable<Row>) {
    const line = String(row['record'])
    const wrong = Number(row['seq']) === chain.size ? chain.read(line) : `record ${chain.size} is missing`
    if (wrong !== undefined) return bad(wrong)
    if (row['leaf'] !== chain.head) return bad(`record ${chain.size - 1} has another leaf beside it`, chain.size - 1)
    const unlike = meet()
    if (unlike !== undefined) return bad(unlike, chain.size - 1)
    const record = JSON.parse(line) as EvidenceRecord
    note(record, states, commitments)
    expected.note(record)
  }
  const largest = Math.max(head?.size ?? 0, ...bySize.keys())
  if (largest > chain.size)
    return bad(
      `the ledger ends at record ${chain.size}, and ${largest} were signed or seen: its end is cut off, or an old copy was put back`,
    )
  const rows = judgeRows(db, states, commitments) ?? expected.wrong(db)
  if (rows !== undefined) return bad(rows)
  return {
    verdict: 'valid',
    records: chain.size,
    why: [],
    key: fingerprint(key),
    ...(newest === undefined ? {} : { checkpoint: newest }),
  }
}

/** What was committed to, and has to be there. */
interface Committed {
  readonly arguments?: string
  readonly result?: string
}

function note(record: EvidenceRecord, states: Map<string, string>, commitments: Map<string, Committed>): void {
  const { operation, path, commitments: made, kind } = record
  // A read is its event, and nothing else.
  if (operation === undefined || kind === 'op.read') return
  const last = path?.at(-1)
  if (last !== undefined) states.set(operation, last)
  if (made !== undefined) commitments.set(operation, { ...commitments.get(operation), ...made })
}

/** The operation table is only a cache of the events: folding them has to give it again, and every payload has to be there. */
function judgeRows(
  db: Database,
  states: ReadonlyMap<string, string>,
  commitments: ReadonlyMap<string, Committed>,
): string | undefined {
  let seen = 0
  for (const row of db.statement('SELECT op_id, state FROM operation').iterate() as Iterable<Row>) {
    seen++
    const id = String(row['op_id'])
    const folded = states.get(id)
    if (folded !== row['state'])
      return `operation ${id} is ${String(row['state'])}, and its events say ${folded ?? 'nothing'}`
  }
  if (seen !== states.size) return `there are events of ${states.size} operations, and rows of ${seen}`
  const payloads = db
    .statement(
      'SELECT p.op_id, p.role, p.body, o.salt, o.arguments_digest FROM payload p JOIN operation o ON o.op_id = p.op_id',
    )
    .iterate() as Iterable<Row>
  let kept = 0
  for (const row of payloads) {
    kept++
    const role = row['role'] as 'arguments' | 'result'
    const body = row['body'] as Uint8Array
    if (commitments.get(String(row['op_id']))?.[role] !== commitment(row['salt'] as Uint8Array, body))
      return `the ${role} of operation ${String(row['op_id'])} are not what was committed to`
    if (role === 'arguments' && digest(body) !== row['arguments_digest'])
      return `the arguments of operation ${String(row['op_id'])} have another digest than its row says`
  }
  let wanted = 0
  for (const roles of commitments.values()) wanted += Object.keys(roles).length
  return kept === wanted ? undefined : `${wanted} payloads were committed to, and ${kept} are there`
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
