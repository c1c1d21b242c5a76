import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Json } from '../../words/json.ts'
import { isPointer, resolvePointer, segmentOf } from './pointer.ts'

// RFC 6901 section 5.
const document: Json = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
}

test('the examples of RFC 6901 lead where they say', () => {
  const examples: [string, Json][] = [
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ]
  for (const [pointer, value] of examples)
    assert.deepEqual(resolvePointer(document, pointer), { values: [value], complete: true }, pointer)
})

test('what is missing, inherited or no pointer leads nowhere', () => {
  const pointers = [
    '/none',
    '/foo/2',
    '/foo/-',
    '/foo/01',
    '/foo/-1',
    '/foo/length',
    '/foo/0/length',
    '/constructor',
    '/__proto__',
    '/foo/map',
    'foo',
    '/m~n',
    '/m~',
    '/foo/1e0',
  ]
  for (const pointer of pointers)
    assert.deepEqual(resolvePointer(document, pointer), { values: [], complete: false }, pointer)
})

test('a star stands for every element, and a gap in one of them is told', () => {
  const orders: Json = { items: [{ path: 'a' }, { path: 'b' }, { other: 1 }] }
  assert.deepEqual(resolvePointer(orders, '/items/*/path'), { values: ['a', 'b'], complete: false })
  assert.deepEqual(resolvePointer(orders, '/items/*'), { values: (orders as { items: Json[] }).items, complete: true })
  assert.deepEqual(resolvePointer({ items: [] }, '/items/*/path'), { values: [], complete: true })
  assert.deepEqual(resolvePointer({ items: [[1, 2], [3]] }, '/items/*/*'), { values: [1, 2, 3], complete: true })
  assert.deepEqual(resolvePointer({ '*': 1 }, '/*'), { values: [1], complete: true })
  assert.deepEqual(resolvePointer({ items: 'text' }, '/items/*'), { values: [], complete: false })
  assert.equal(
    resolvePointer(
      Array.from({ length: 500_000 }, () => 0),
      '/*',
    ).values.length,
    500_000,
  )
})

test('any key can be written as a segment and is found by it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (key, value) => {
      const pointer = segmentOf(key)
      assert.equal(isPointer(pointer), true)
      const holder = Object.fromEntries([[key, value as Json]])
      assert.deepEqual(resolvePointer(holder, pointer), { values: [value], complete: true })
    }),
  )
})
