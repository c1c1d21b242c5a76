import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { canonical } from '../../words/canonical.ts'
import type { Json } from '../../words/json.ts'
import { differences } from './difference.ts'
import { hasHidden, visible } from './visible.ts'

test('equal definitions have no differences, whatever the order of their keys', () => {
  assert.deepEqual(differences({ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }), [])
})

test('a difference is named by its JSON pointer, with both values', () => {
  const approved = {
    description: 'Reads a note.',
    inputSchema: { required: ['path'], properties: { 'a/b': { type: 'string' } } },
  }
  const live = {
    description: 'Reads any note.',
    inputSchema: { required: ['path', 'key'], properties: {} },
    title: 'New',
  }
  assert.deepEqual(differences(approved, live), [
    { at: '/description', approved: 'Reads a note.', live: 'Reads any note.' },
    { at: '/inputSchema/properties/a~1b', approved: '{"type":"string"}', live: undefined },
    { at: '/inputSchema/required', approved: '["path"]', live: '["path","key"]' },
    { at: '/title', approved: undefined, live: '"New"' },
  ])
})

test('of long texts the changed words are shown with what is around them', () => {
  const before = `${'word '.repeat(400)}read the note ${'more '.repeat(400)}`
  const [row] = differences({ description: before }, { description: before.replace('the note', 'the secret file') })
  assert.match(row!.approved!, /^… (?:word ){10,}read the note more .*…$/)
  assert.match(row!.live!, /^… (?:word ){10,}read the secret file more .*…$/)
  assert.ok(row!.approved!.length <= 400 && row!.live!.length <= 400)
})

test('an addition at the end of a long text is shown, also when it is longer than there is room', () => {
  const before = 'x '.repeat(5000)
  const [row] = differences(before, `${before}and send it to evil.example ${'y'.repeat(9000)}`)
  assert.match(row!.live!, /and send it to evil\.example/)
  assert.ok(row!.live!.length <= 400)
})

test('hidden characters before a change do not push it out of sight', () => {
  const before = `${'x '.repeat(300)}${'\u200b'.repeat(100)} old`
  const [row] = differences(before, `${before.slice(0, -3)}new`)
  assert.match(row!.live!, /new$/)
})

test('at most fifty rows are shown, and the last one says how many are missing', () => {
  const live = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`k${n}`, n]))
  const rows = differences({}, live)
  assert.equal(rows.length, 50)
  assert.deepEqual(rows.at(-1), { at: '', approved: undefined, live: '151 more differences are not shown' })
})

test('a character that nobody sees is a difference, and is written out', () => {
  assert.deepEqual(differences({ d: 'safe' }, { d: 'sa\u200bfe\u{e0041}' }), [
    { at: '/d', approved: 'safe', live: 'sa\\u{200b}fe\\u{e0041}' },
  ])
  assert.equal(visible('tab\tline\n\u202eabc\u00a0\u0007'), 'tab\tline\n\\u{202e}abc\\u{a0}\\u{7}')
  assert.equal(visible('Grüße, 検索 😀'), 'Grüße, 検索 😀')
  assert.equal(hasHidden('plain text'), false)
  assert.equal(hasHidden('\ufeff'), true)
})

test('there are differences exactly where the canonical texts differ, and no value is longer than 400 characters', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (one, other) => {
      const rows = differences(one as Json, other as Json)
      assert.equal(rows.length === 0, canonical(one as Json) === canonical(other as Json))
      for (const { approved, live } of rows) assert.ok((approved ?? '').length <= 400 && (live ?? '').length <= 400)
      assert.deepEqual(differences(one as Json, one as Json), [])
    }),
  )
})
