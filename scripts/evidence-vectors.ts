// Writes docs/evidence-vectors: exports that a verifier has to judge, made with fixed keys and times. `npm run docs` runs it.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  exportLines,
  type ExportFilter,
  type ExportSource,
  fingerprint,
  firstPrev,
  Frontier,
  type Happening,
  leafOf,
  type Opened,
  rawKey,
  recordLine,
  signCheckpoint,
  signSuccession,
} from '../src/flow/evidence/index.ts'
import { commitment } from '../src/words/digest.ts'

export interface Vector {
  readonly text: string
  readonly verdict: 'valid' | 'tampered' | 'incomplete' | 'unjudgeable'
  /** PEM of the key to trust, where the case needs one. */
  readonly key?: string
}

const LEDGER = '00000000000000000000000000'
const AT = Date.UTC(2026, 10, 30)
// PKCS#8 of Ed25519 is this and a seed of 32 bytes (RFC 8410 §7). Never a key of anybody's: the seed is a repeated byte.
const keyOf = (byte: string): KeyObject =>
  createPrivateKey({
    key: Buffer.from(`302e020100300506032b657004220420${byte.repeat(32)}`, 'hex'),
    format: 'der',
    type: 'pkcs8',
  })
const first = keyOf('01')
const second = keyOf('02')
const stranger = keyOf('03')
const pemOf = (key: KeyObject): string => createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
const salt = Buffer.alloc(32, 7)
const sent = Buffer.from('{"amount":4,"to":"ana"}', 'utf8')

const calls: readonly Happening[] = [
  { kind: 'ledger.opened', at: AT, facts: { policy: 'p1' } },
  {
    kind: 'op.dispatched',
    at: AT + 1,
    operation: 'op_1',
    tenant: 'local',
    principal: 'ana',
    tool: 'bank/pay',
    path: ['proposed', 'authorised', 'dispatched'],
    commitments: { arguments: commitment(salt, sent) },
  },
  {
    kind: 'op.outcome',
    at: AT + 2,
    operation: 'op_1',
    principal: 'ana',
    tool: 'bank/pay',
    path: ['dispatched', 'succeeded'],
  },
  { kind: 'op.read', at: AT + 3, operation: 'op_2', principal: 'bob', tool: 'bank/list' },
  { kind: 'proposal.refused', at: AT + 4, principal: 'bob', tool: 'bank/pay' },
  {
    kind: 'op.read',
    at: AT + 5,
    operation: 'op_3',
    principal: 'ana',
    tool: 'bank/list',
    facts: { text: 'größe \u2028 😀' },
  },
  { kind: 'ledger.closed', at: AT + 6 },
]
const handOver = (extra: object): Happening => {
  const publicKey = rawKey(second)
  const facts = { epoch: 2, publicKey, id: fingerprint(publicKey), ...extra }
  return { kind: 'ledger.key', at: AT + 9, facts }
}

function sourceOf(
  happenings: readonly Happening[],
  keys: readonly KeyObject[],
  payload: ExportSource['payload'] = () => undefined,
): ExportSource {
  const frontier = new Frontier()
  const lines: string[] = []
  const leaves: string[] = []
  const notes: string[] = []
  const key = keys.at(-1)!
  const note = (by: KeyObject): string =>
    signCheckpoint({ ledger: LEDGER, size: frontier.size, root: frontier.root() }, by)
  for (const happening of happenings) {
    if (lines.length === 3 || lines.length === 4) notes.unshift(note(keys[0]!))
    const line = recordLine(LEDGER, lines.length, leaves.at(-1) ?? firstPrev, happening)
    lines.push(line)
    leaves.push(leafOf(line))
    frontier.append(leaves.at(-1)!)
  }
  return {
    ledger: LEDGER,
    key,
    keys: keys.map((it) => ({ id: fingerprint(it), publicKey: rawKey(it) })),
    checkpoint: note(key),
    earlier: notes,
    lines: (from, to) => lines.slice(from, to),
    leaves: (from, to) => leaves.slice(from, to),
    payload,
  }
}

async function textOf(
  source: ExportSource,
  wanted: { readonly filter?: ExportFilter; readonly payloads?: boolean } = {},
): Promise<string> {
  let text = ''
  for await (const line of exportLines(source, wanted, AT + 10)) text += `${line}\n`
  return text
}

export async function evidenceVectors(): Promise<Readonly<Record<string, Vector>>> {
  const plain = sourceOf(calls, [first])
  const whole = await textOf(plain)
  const rows = whole.trimEnd().split('\n')
  const joined = (lines: readonly string[]): string => `${lines.join('\n')}\n`
  const swapped = rows.with(3, rows[4]!).with(4, rows[3]!)
  const kept = (opened: Opened) => sourceOf(calls, [first], (_, role) => (role === 'arguments' ? opened : undefined))
  const signature = signSuccession(LEDGER, 2, rawKey(second), first)
  const rotated = sourceOf([...calls, handOver({ signature }), { kind: 'ledger.opened', at: AT + 11 }], [first, second])
  const lost = sourceOf([...calls, handOver({ broken: true, why: 'lost' })], [first, second])
  const forged = signCheckpoint({ ledger: LEDGER, size: calls.length, root: '00'.repeat(32) }, first)
  return {
    whole: { text: whole, verdict: 'valid', key: pemOf(first) },
    'with-payloads': { text: await textOf(kept({ salt, body: sent }), { payloads: true }), verdict: 'valid' },
    rotated: { text: await textOf(rotated), verdict: 'valid', key: pemOf(first) },
    filtered: { text: await textOf(plain, { filter: { principal: 'ana' } }), verdict: 'incomplete' },
    erased: { text: await textOf(kept('erased'), { payloads: true }), verdict: 'incomplete' },
    cut: { text: joined(rows.slice(0, -2)), verdict: 'incomplete' },
    'cut-in-a-line': { text: whole.slice(0, -40), verdict: 'incomplete' },
    'one-letter': { text: whole.replace('"bob"', '"rob"'), verdict: 'tampered' },
    reordered: { text: joined(swapped), verdict: 'tampered' },
    duplicated: { text: joined(rows.toSpliced(3, 0, rows[3]!)), verdict: 'tampered' },
    removed: { text: joined(rows.toSpliced(3, 1)), verdict: 'tampered' },
    'forged-checkpoint': { text: await textOf({ ...plain, checkpoint: forged }), verdict: 'tampered' },
    'other-payload': {
      text: await textOf(kept({ salt, body: Buffer.from('{"amount":5,"to":"ana"}') }), { payloads: true }),
      verdict: 'tampered',
    },
    'key-not-handed-on': {
      text: await textOf({ ...sourceOf(calls, [second]), keys: rotated.keys, key: second }),
      verdict: 'tampered',
    },
    'key-lost': { text: await textOf(lost), verdict: 'unjudgeable' },
    'key-lost-and-the-newest-trusted': { text: await textOf(lost), verdict: 'valid', key: pemOf(second) },
    'another-key-trusted': { text: whole, verdict: 'unjudgeable', key: pemOf(stranger) },
    'another-format': {
      text: whole.replace('countersign-evidence/2', 'countersign-evidence/9'),
      verdict: 'unjudgeable',
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  const folder = join(import.meta.dirname, '..', 'docs', 'evidence-vectors')
  mkdirSync(folder, { recursive: true })
  const vectors = Object.entries(await evidenceVectors())
  for (const [name, { text }] of vectors) writeFileSync(join(folder, `${name}.jsonl`), text)
  const index = vectors.map(([name, { verdict, key }]) => ({ file: `${name}.jsonl`, verdict, ...(key && { key }) }))
  writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`)
}
