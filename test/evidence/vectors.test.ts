import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { evidenceVectors } from '../../scripts/evidence-vectors.ts'
import { exitOfJudgement } from '../../src/cli/exits.ts'
import { verifyExport } from '../../src/verifier/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-vectors-'))
after(() => rmSync(folder, { recursive: true }))
const published = join(import.meta.dirname, '..', '..', 'docs', 'evidence-vectors')
const second = join(import.meta.dirname, 'second-verifier.mjs')
const vectors = await evidenceVectors()
const file = join(folder, 'export.jsonl')
const keyFile = join(folder, 'key.pem')

async function judge(bytes: string | Uint8Array, key?: string): Promise<string> {
  writeFileSync(file, bytes)
  return (await verifyExport(file, key === undefined ? {} : { key })).verdict
}

for (const [name, { text, verdict, key }] of Object.entries(vectors))
  test(`the vector ${name} is published as it is made, and both verifiers say that it is ${verdict}`, async () => {
    assert.equal(readFileSync(join(published, `${name}.jsonl`), 'utf8'), text)
    assert.equal(await judge(text, key), verdict)
    if (key !== undefined) writeFileSync(keyFile, key)
    const said = spawnSync(process.execPath, [second, file, ...(key === undefined ? [] : [keyFile])])
    assert.equal(said.status, exitOfJudgement({ verdict }), String(said.stderr))
  })

test('the index names every vector with its verdict', () => {
  const index = JSON.parse(readFileSync(join(published, 'index.json'), 'utf8')) as { file: string; verdict: string }[]
  assert.deepEqual(
    index.map(({ file: name, verdict }) => [name, verdict]),
    Object.entries(vectors).map(([name, { verdict }]) => [`${name}.jsonl`, verdict]),
  )
})

for (const name of ['whole', 'filtered', 'with-payloads'])
  test(`one bit of any byte of the ${name} export turned: it is told`, async () => {
    const { text, verdict } = vectors[name]!
    const bytes = Buffer.from(text, 'utf8')
    const untold: string[] = []
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes)
      damaged[at] = damaged[at]! ^ (1 << ((at * 5) % 8))
      const said = await judge(damaged)
      if (said === 'valid' || (said === verdict && at < bytes.length - 1)) untold.push(`byte ${at}: ${said}`)
      // Only the name of the format, and the end of the last line, may look like something else than tampering.
      if (said !== 'tampered' && at > 80 && at < bytes.length - 1) untold.push(`byte ${at}: ${said}`)
    }
    assert.deepEqual(untold, [])
  })

test('cut at any byte, an export is incomplete and never valid', async () => {
  const bytes = Buffer.from(vectors['whole']!.text, 'utf8')
  const others = new Set<string>()
  for (let length = 1; length < bytes.length; length += 7) others.add(await judge(bytes.subarray(0, length)))
  assert.deepEqual([...others], ['incomplete'])
})

test('an export has to agree with what was anchored', async () => {
  const { text } = vectors['whole']!
  const rows = vectors['filtered']!.text.split('\n').map((line) => (line === '' ? {} : (JSON.parse(line) as object)))
  const earlier = rows.flatMap((row) => ('checkpoint' in row && 'path' in row ? [String(row.checkpoint)] : []))
  assert.equal(earlier.length, 2)
  const anchors = join(folder, 'anchors')
  const against = async (notes: readonly string[], wanted = text): Promise<string> => {
    writeFileSync(anchors, notes.map((note) => `${JSON.stringify({ note })}\n`).join(''))
    writeFileSync(file, wanted)
    const { verdict, why } = await verifyExport(file, { anchors })
    return `${verdict} ${why.join()}`
  }
  assert.equal(await against(earlier), 'valid ')
  assert.match(await against(earlier, vectors['filtered']!.text), /^incomplete a filter/)
  // The owner of the key signed another history of the same length elsewhere.
  const forged = (JSON.parse(vectors['forged-checkpoint']!.text.split('\n')[0]!) as { checkpoint: string }).checkpoint
  assert.match(await against([forged]), /^tampered the anchored checkpoint of 7/)
  const longer = (JSON.parse(vectors['rotated']!.text.split('\n')[0]!) as { checkpoint: string }).checkpoint
  assert.match(await against([longer], vectors['rotated']!.text), /^valid/)
  assert.match(await against([longer], vectors['key-lost']!.text), /^(unjudgeable|incomplete)/)
})
