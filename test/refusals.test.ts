import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refusals } from '../src/words/refusals.ts'
import { refusalsPage } from '../scripts/refusals.ts'

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'refusals.md'), 'utf8')

test('docs/refusals.md lists the refusal codes, no more and no fewer, each once', () => {
  const listed = [...page.matchAll(/^## `([A-Z_]+)`$/gm)].map((heading) => heading[1])
  assert.deepEqual(listed.toSorted(), Object.keys(refusals).toSorted())
})

test('docs/refusals.md says what the table says (npm run docs makes it again)', () => {
  assert.equal(page, refusalsPage())
})

test('every refusal says what happened and what to do next, in whole sentences', () => {
  for (const [code, { say, next }] of Object.entries(refusals)) {
    assert.match(say, /^[A-Z].*\.$/s, code)
    assert.match(next, /^[A-Z].*\.$/s, code)
  }
})
