import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'test', 'FAULTS.md'), 'utf8')
const rows = [...page.matchAll(/^\| ([FT]\d\d) *\| (.+?) *\| (.+?) *\|$/gm)].map(([, id, held, says]) => ({
  id: id!,
  held: held!,
  says: says!,
}))

test('every fault case is in the table once', () => {
  const numbered = (letter: string, most: number) =>
    Array.from({ length: most }, (_, n) => `${letter}${String(n + 1).padStart(2, '0')}`)
  assert.deepEqual(
    rows.map(({ id }) => id),
    [...numbered('F', 58), ...numbered('T', 10)],
  )
})

test('every test that a case names is there, and a case that no test holds says why', () => {
  for (const { id, held, says } of rows) {
    if (held === 'nothing') {
      assert.ok(says.length > 20, `${id} is held by nothing, and does not say why`)
      continue
    }
    const file = join(root, held.replaceAll('`', ''))
    assert.ok(existsSync(file), `${id}: there is no ${held}`)
    const titles = [...readFileSync(file, 'utf8').matchAll(/\btest\(\s*(['"`])([^]*?)\1/g)].map(([, , title]) => title!)
    assert.ok(
      titles.some((title) => title.includes(says)),
      `${id}: no test in ${held} is called “${says}”`,
    )
  }
})
