import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { exportedName } from './names.ts'

const VALID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const prefixed = (server: string, name: string) => exportedName(server, name, 'prefixed')

test('an ordinary name is exported as server, two underscores and name', () => {
  assert.equal(prefixed('learning-notes', 'read_note'), 'learning-notes__read_note')
  assert.equal(exportedName('learning-notes', 'read_note', 'bare'), 'read_note')
})

test('names that clash when cleaned, cut or split are exported as different, valid names', () => {
  const long = (middle: string) => `${'x'.repeat(44)}${middle}${'x'.repeat(44)}`
  const pairs: [string, string][] = [
    ['s', 'get.user'],
    ['s', 'get_user'],
    ['s', 'get user'],
    ['s', 'Get_User'],
    ['a__b', 'c'],
    ['a', 'b__c'],
    ['a_', 'b'],
    ['a', '_b'],
    ['s', long('a')],
    ['s', long('b')],
    ['日本', '検索'],
    ['日本', '削除'],
    ['s', ''],
    ['s', '_'],
    ['s', '\u200b'],
    ['s', 'a\u202eb'],
    ['7zip', 'list'],
    ['s', 'constructor'],
    ['s', '__proto__'],
    ['s', 'a/b'],
  ]
  const names = pairs.map(([server, name]) => prefixed(server, name))
  for (const name of names) assert.match(name, VALID)
  assert.equal(new Set(names).size, names.length)
})

test('a name that looks like one made here is not taken as it is', () => {
  const made = prefixed('s', 'get.user')
  const copied = made.slice('s__'.length)
  assert.notEqual(prefixed('s', copied), made)
  assert.match(prefixed('s', copied), VALID)
})

test('a bare tool cannot be exported like a tool of another server', () => {
  const name = exportedName('evil', 'notes__read_note', 'bare')
  assert.notEqual(name, prefixed('notes', 'read_note'))
  assert.doesNotMatch(name, /__/)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (server, name) => {
      assert.doesNotMatch(exportedName(server, name, 'bare'), /.__/)
      assert.match(prefixed(server, name), /.__/)
    }),
  )
})

test('any two different pairs of names have different exported names, all valid', () => {
  const name = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', '_', '.', '-', '0', 'é'), maxLength: 6 }),
    fc.string({ unit: 'binary', maxLength: 80 }),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 30 }), (pairs) => {
      const seen = new Map<string, string>()
      for (const [server, tool] of pairs) {
        const exported = prefixed(server, tool)
        assert.match(exported, VALID)
        const from = JSON.stringify([server, tool])
        assert.equal(seen.get(exported) ?? from, from)
        seen.set(exported, from)
      }
    }),
    { numRuns: 300 },
  )
})
