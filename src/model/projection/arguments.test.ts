import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArguments } from './arguments.ts'
import { noKeys } from './keys.ts'

test('T10: no text, or only space, means no arguments', () => {
  for (const raw of ['', ' ', '\n\t '])
    assert.deepEqual(readArguments(raw, noKeys), { kind: 'read', text: '{}', shown: {} })
})

test('T10: text that is no JSON object cannot be read, and the words say why without quoting it', () => {
  for (const raw of ['{', '[1]', 'null', '"secret"', '{}{}', '{"a":1,}', "{'a':1}", '\ufeff{}']) {
    const read = readArguments(raw, noKeys)
    assert.equal(read.kind, 'unreadable', raw)
    if (read.kind === 'unreadable') assert.doesNotMatch(read.say, /secret/)
  }
})

test('T10: a key given twice and a number that loses digits go to the gates as they are, which refuse them', () => {
  for (const raw of ['{"a":1,"a":2}', '{"n":9007199254740993}']) {
    assert.deepEqual(readArguments(raw, noKeys), { kind: 'read', text: raw, shown: {} })
  }
})

test('T10: `__proto__` is a key like any other and changes no prototype', () => {
  const read = readArguments('{"__proto__":{"admin":true}}', new Map([['a_1', 'a']]))
  assert.equal(read.kind, 'read')
  if (read.kind !== 'read') return
  assert.equal(read.text, '{"__proto__":{"admin":true}}')
  assert.equal(Object.getPrototypeOf(read.shown), Object.prototype)
  assert.equal('admin' in read.shown, false)
})

test('the bytes of readable arguments are passed on untouched', () => {
  const raw = '{ "b" : 1.0, "a": "\\u00e9" }'
  assert.deepEqual(readArguments(raw, noKeys), { kind: 'read', text: raw, shown: { b: 1, a: 'é' } })
})
