import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { traps } from './audit-traps.ts'
import { peersCases, type Row } from './audit.ts'

const root = join(import.meta.dirname, '..', '..')
const reference = join(root, '..', 'shared', 'reference')
const skip = existsSync(reference) ? false : 'the reference lies beside the repository, and is not there'

/** Titles of the tests in a file, as they are written there. */
function titlesIn(file: string): string[] {
  const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
  return [...text.matchAll(/\btest\(\s*(['"`])((?:(?!\1).)*)\1/g)].map(([, , title]) => title!)
}

function missing(rows: readonly Row[]): string[] {
  return rows.flatMap(({ id, held, not }) => [
    ...(held.length === 0 && not === undefined ? [`${id}: neither a test nor a sentence`] : []),
    ...held
      .filter(([file, words]) => words === '' || !titlesIn(file).some((title) => title.includes(words)))
      .map(([file, words]) => `${id}: no test “${words}” in ${file}`),
  ])
}

test('each test that the audit of cases and traps names is there, and each row has one or says why not', () => {
  assert.deepEqual(missing(peersCases), [])
  assert.deepEqual(missing(traps), [])
})

test('the audit has every case and every trap of the reference, and a test for each that comes first', { skip }, () => {
  const peers = readFileSync(join(reference, 'peers.md'), 'utf8')
  const found = [...peers.matchAll(/^- (T\d+)(\*?) /gm)].map(([, id, star]) => ({ id: id!, first: star === '*' }))
  assert.ok(found.length >= 26)
  assert.deepEqual(
    peersCases.map(({ id }) => id),
    found.map(({ id }) => id),
  )
  const first = new Set(found.filter((it) => it.first).map(({ id }) => id))
  assert.deepEqual(
    peersCases.filter(({ id, held }) => first.has(id) && held.length === 0),
    [],
  )
  const spec = readFileSync(join(reference, 'spec.md'), 'utf8')
  const section = spec.slice(spec.indexOf('## 10. Traps'), spec.indexOf('## 11.'))
  const numbers = [...section.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => number!)
  assert.ok(numbers.length >= 18)
  assert.deepEqual(
    traps.map(({ id }) => id),
    numbers,
  )
})
