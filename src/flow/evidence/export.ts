import { createHash, type KeyObject, sign } from 'node:crypto'
import { WholeTree } from './merkle.ts'
import type { EvidenceRecord } from './record.ts'

export const exportFormat = 'countersign-evidence/2'

/** Which records are wanted; every member that is given has to fit. */
export interface ExportFilter {
  readonly tenant?: string
  readonly principal?: string
  /** `server/tool` */
  readonly tool?: string
  readonly operation?: string
  readonly kind?: string
  /** Milliseconds since 1970; `until` itself is not wanted any more. */
  readonly since?: number
  readonly until?: number
}

export type Opened = { readonly salt: Uint8Array; readonly body: Uint8Array } | 'erased'

/** Port: what an export is made of. Each call is a short read, so that an export never holds a log open. */
export interface ExportSource {
  readonly ledger: string
  /** Public keys by epoch, 32 bytes in hex. */
  readonly keys: readonly { readonly id: string; readonly publicKey: string }[]
  /** The newest key's private half. */
  readonly key: KeyObject
  /** Signed just now; nothing after it is exported. */
  readonly checkpoint: string
  /** Checkpoints before that one, newest first. */
  readonly earlier: readonly string[]
  lines(from: number, to: number): readonly string[]
  leaves(from: number, to: number): readonly string[]
  /** Undefined where what was committed to is not kept: it never was, or a later answer took its place. */
  payload(operation: string, role: string, committed: string): Opened | undefined
}

const PAGE = 500
const EARLIER = 32

/** The lines of an export, without their newlines. docs/evidence.md is the description of the format. */
export async function* exportLines(
  source: ExportSource,
  wanted: { readonly filter?: ExportFilter; readonly payloads?: boolean } = {},
  now: number = Date.now(),
): AsyncGenerator<string> {
  const whole = createHash('sha256')
  let lines = 0
  const put = (line: string): string => {
    whole.update(`${line}\n`)
    lines++
    return line
  }
  const { ledger, keys, checkpoint } = source
  const size = Number(checkpoint.split('\n')[1])
  const filter = wanted.filter === undefined || Object.keys(wanted.filter).length === 0 ? null : wanted.filter
  const header = { line: 'header', format: exportFormat, ledger, exportedAt: now, filter, keys, checkpoint }
  yield put(JSON.stringify(header))
  const chosen = filter === null ? undefined : choose(source, size, filter)
  const tree = chosen === undefined ? undefined : new WholeTree(pages(size, (a, b) => source.leaves(a, b)).flat())
  let records = 0
  for (let from = 0; from < size; from += PAGE) {
    for (const [n, line] of source.lines(from, Math.min(from + PAGE, size)).entries()) {
      const seq = from + n
      if (chosen !== undefined && !chosen.has(seq)) continue
      yield put(line)
      records++
      if (tree !== undefined) yield put(JSON.stringify({ line: 'proof', seq, path: tree.inclusion(seq) }))
      if (wanted.payloads === true) for (const payload of payloadLines(source, line)) yield put(payload)
    }
  }
  if (tree !== undefined)
    for (const note of source.earlier.slice(0, EARLIER).toReversed()) {
      const path = tree.consistency(Number(note.split('\n')[1]))
      yield put(JSON.stringify({ line: 'consistency', checkpoint: note, path }))
    }
  const sha256 = whole.digest('hex')
  const text = `${exportFormat}\n${ledger}\n${lines} ${records}\n${sha256}\n`
  const signature = sign(null, Buffer.from(text, 'utf8'), source.key).toString('hex')
  yield JSON.stringify({ line: 'end', lines, records, sha256, signature })
}

function pages<Page>(size: number, read: (from: number, to: number) => Page): readonly Page[] {
  return Array.from({ length: Math.ceil(size / PAGE) }, (_, n) => read(n * PAGE, Math.min((n + 1) * PAGE, size)))
}

/** What fits the filter, and what a reader needs for it: the hand-over of keys, and what a record refers to. */
function choose(source: ExportSource, size: number, filter: ExportFilter): ReadonlySet<number> {
  const chosen = new Set<number>()
  for (let from = 0; from < size; from += PAGE)
    for (const line of source.lines(from, Math.min(from + PAGE, size))) {
      const record = JSON.parse(line) as EvidenceRecord
      if (record.kind !== 'ledger.key' && !fits(record, filter)) continue
      chosen.add(record.seq)
      if (record.as !== undefined) chosen.add(record.as)
    }
  return chosen
}

function fits({ at, ...record }: EvidenceRecord, { since, until, ...same }: ExportFilter): boolean {
  if (since !== undefined && at < since) return false
  if (until !== undefined && at >= until) return false
  return Object.entries(same).every(([name, value]) => record[name as keyof typeof same] === value)
}

function payloadLines(source: ExportSource, line: string): readonly string[] {
  const { seq, kind, operation, commitments } = JSON.parse(line) as EvidenceRecord
  if (operation === undefined || commitments === undefined || kind === 'op.read' || kind === 'op.asked') return []
  const lines: string[] = []
  for (const [role, committed] of Object.entries(commitments)) {
    const opened = source.payload(operation, role, committed)
    if (opened === undefined) continue
    lines.push(
      JSON.stringify(
        opened === 'erased'
          ? { line: 'payload', seq, role, erased: true }
          : {
              line: 'payload',
              seq,
              role,
              salt: Buffer.from(opened.salt).toString('hex'),
              body: Buffer.from(opened.body).toString('base64'),
            },
      ),
    )
  }
  return lines
}
