// A second verifier, written from docs/evidence.md alone: it shares no line with the first one or with what writes.
// node second-verifier.mjs FILE [KEY.pem]; exit code 0, 10, 11 or 12.
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sha = (bytes) => createHash('sha256').update(bytes).digest()
const hex = (text) => Buffer.from(text, 'hex')
const parent = (left, right) => sha(Buffer.concat([Buffer.of(1), left, right]))
const end = (code) => process.exit(code)
const must = (holds) => holds || end(10)

const bytes = readFileSync(process.argv[2])
if (bytes.length === 0) end(12)
const lines = bytes.toString('utf8').split('\n')
const rest = lines.pop()
must(Buffer.from(lines.join('\n') + '\n' + rest).equals(bytes))
let header
try {
  header = JSON.parse(lines[0])
} catch {
  end(12)
}
if (header.format !== 'countersign-evidence/2') end(12)
const keys = header.keys.map(({ publicKey }) => ({
  raw: hex(publicKey),
  object: createPublicKey({
    key: Buffer.concat([hex('302a300506032b6570032100'), hex(publicKey)]),
    format: 'der',
    type: 'spki',
  }),
}))
let trusted = -1
if (process.argv[3] !== undefined) {
  const der = createPublicKey(readFileSync(process.argv[3])).export({ type: 'spki', format: 'der' })
  trusted = keys.findIndex(({ raw }) => raw.equals(der.subarray(12)))
  if (trusted < 0) end(12)
}

const open = (note, allowed) => {
  const [text, signatures] = [note.slice(0, note.indexOf('\n\n') + 1), note.slice(note.indexOf('\n\n') + 2)]
  const [origin, size, root] = text.split('\n')
  const signed = Buffer.from(signatures.split(' ')[2], 'base64')
  must(signatures === `\u2014 ${origin} ${signed.toString('base64')}\n`)
  const key = allowed.find(({ raw }) =>
    sha(Buffer.concat([Buffer.from(`${origin}\n`), Buffer.of(1), raw]))
      .subarray(0, 4)
      .equals(signed.subarray(0, 4)),
  )
  must(key !== undefined && verify(null, Buffer.from(text), key.object, signed.subarray(4)))
  must(origin === `countersign/${header.ledger}` && Buffer.from(root, 'base64').toString('base64') === root)
  return { size: Number(size), root: Buffer.from(root, 'base64') }
}
const rootOf = (leaves) => {
  if (leaves.length === 0) return sha('')
  if (leaves.length === 1) return leaves[0]
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return parent(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}
// The proof is consumed from its end: that is the way down from the root.
const fromProof = (leaf, at, size, path) => {
  if (size === 1) return path.length === 0 ? leaf : undefined
  if (path.length === 0) return undefined
  let split = 1
  while (split * 2 < size) split *= 2
  const sibling = hex(path.at(-1))
  const below = path.slice(0, -1)
  const inner = at < split ? fromProof(leaf, at, split, below) : fromProof(leaf, at - split, size - split, below)
  if (inner === undefined) return undefined
  return at < split ? parent(inner, sibling) : parent(sibling, inner)
}

const checkpoint = open(header.checkpoint, keys.slice(-1))
const leaves = []
let last
let epoch = 0
let unbroken = 0
let erased = 0
let records = 0
let ended = false
for (const [n, line] of lines.entries()) {
  if (n === 0) continue
  must(!ended)
  let it
  try {
    it = JSON.parse(line)
  } catch {
    end(10)
  }
  if (it.v === 1) {
    must(last === undefined || last.proved)
    must(header.filter === null ? it.seq === leaves.length : it.seq > (last?.seq ?? -1))
    must(it.ledger === header.ledger)
    if (it.seq === 0) must(it.prev === '0'.repeat(64))
    else if (last?.seq === it.seq - 1) must(it.prev === last.leaf.toString('hex'))
    last = { seq: it.seq, leaf: sha(`\0${line}`), commitments: it.commitments ?? {}, proved: header.filter === null }
    leaves.push(last.leaf)
    records++
    if (it.kind === 'ledger.key') {
      epoch++
      must(keys[epoch]?.raw.toString('hex') === it.facts.publicKey && it.facts.epoch === epoch + 1)
      if (it.facts.broken) unbroken = epoch
      else
        must(
          verify(
            null,
            Buffer.from(`countersign/${header.ledger}\nkey ${epoch + 1} ${it.facts.publicKey}\n`),
            keys[epoch - 1].object,
            hex(it.facts.signature),
          ),
        )
    }
  } else if (it.line === 'proof') {
    must(it.seq === last.seq && fromProof(last.leaf, it.seq, checkpoint.size, it.path)?.equals(checkpoint.root))
    last.proved = true
  } else if (it.line === 'payload') {
    must(it.seq === last.seq)
    if (it.erased) erased++
    else
      must(
        createHmac('sha256', hex(it.salt)).update(Buffer.from(it.body, 'base64')).digest('hex') ===
          last.commitments[it.role],
      )
  } else if (it.line === 'end') {
    const before = sha(Buffer.from(lines.slice(0, n).join('\n') + '\n')).toString('hex')
    must(it.lines === n && it.records === records && it.sha256 === before)
    const { line: kind, signature } = it
    must(line === JSON.stringify({ line: kind, lines: n, records, sha256: before, signature }))
    const said = `countersign-evidence/2\n${header.ledger}\n${n} ${records}\n${before}\n`
    must(/^[0-9a-f]{128}$/.test(signature) && verify(null, Buffer.from(said), keys.at(-1).object, hex(signature)))
    ended = true
  } else must(it.line === 'consistency' && open(it.checkpoint, keys).size <= checkpoint.size)
}
if (!ended) end(11)
must(rest === '' && (last === undefined || last.proved) && epoch === keys.length - 1)
if (header.filter === null) must(leaves.length === checkpoint.size && rootOf(leaves).equals(checkpoint.root))
if (unbroken > 0 && trusted < unbroken) end(12)
end(header.filter !== null || erased > 0 ? 11 : 0)
