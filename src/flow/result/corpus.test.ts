import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../words/json.ts'
import { piecesOf } from './pieces.ts'
import { maskSecrets } from './secrets.ts'
import { shapeOf } from './shape.ts'
import { signsIn } from './signs.ts'

// A corpus of labelled results may lie beside the repository; it is not part of it.
const file = join(import.meta.dirname, '../../../../shared/attacks/result-injection.jsonl')
const skip = existsSync(file) ? false : `no corpus at ${join('..', 'shared', 'attacks', 'result-injection.jsonl')}`

interface Case {
  readonly id: string
  readonly label: 'benign' | 'injected'
  readonly result: JsonObject
}

test('on a corpus of results, signs are rare on benign ones and secrets are hardly ever seen in them', { skip }, () => {
  const cases = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Case)
  assert.ok(cases.length > 1_000)
  const count = { benign: { all: 0, signed: 0, masked: 0 }, injected: { all: 0, signed: 0, masked: 0 } }
  for (const { label, result } of cases) {
    const bytes = Buffer.from(JSON.stringify(result), 'utf8')
    const shape = shapeOf('tool', result)
    assert.ok(shape.ok)
    const searched = piecesOf(bytes, result, shape.types)
    count[label].all++
    if (signsIn(searched).length > 0) count[label].signed++
    if (maskSecrets(bytes, result, searched.pieces).masked.length > 0) count[label].masked++
  }
  const { benign, injected } = count
  assert.ok(benign.signed / benign.all < 0.02, `${benign.signed} of ${benign.all} benign results have a sign`)
  assert.ok(benign.masked / benign.all < 0.005, `${benign.masked} of ${benign.all} benign results have a secret`)
  // Half of all injections read like any other request. Nothing may rest on this figure; it only must not be nothing.
  assert.ok(injected.signed / injected.all > 0.1, `${injected.signed} of ${injected.all} injected results have a sign`)
})
