import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../words/json.ts'
import { type Condition, holds } from './condition.ts'

const result: JsonObject = {
  content: [
    { type: 'text', text: '{"order":{"id":"A-17","total":12.5,"tags":["new","paid"]}}' },
    { type: 'text', text: 'order A-17 was placed' },
  ],
  structuredContent: { total: 12.5, lines: [{ sku: 'x' }, { sku: 'y' }], none: null },
}
const sent: JsonObject = {
  id: 'A-17',
  sku: 'y',
  total: 12.5,
  empty: '',
  list: ['new', 'paid'],
  many: [{ a: 1 }, { a: 2 }],
}

const one = (condition: Condition) => holds([condition], result, sent)

test('exists asks whether the pointer leads to anything', () => {
  assert.equal(one({ at: '/structuredContent/total' }), true)
  assert.equal(one({ at: '/structuredContent/none', exists: true }), true)
  assert.equal(one({ at: '/structuredContent/missing', exists: true }), false)
  assert.equal(one({ at: '/structuredContent/missing', exists: false }), true)
  assert.equal(one({ at: '/structuredContent/total', exists: false }), false)
  assert.equal(one({ at: '/structuredContent/constructor' }), false)
})

test('equals compares by value, with what is written or with an argument of the call', () => {
  assert.equal(one({ at: '/structuredContent/total', equals: 12.5 }), true)
  assert.equal(one({ at: '/structuredContent/total', equals: '12.5' }), false)
  assert.equal(one({ at: '/structuredContent/lines/0', equals: { sku: 'x' } }), true)
  assert.equal(one({ at: '/structuredContent/total', equals: { $argument: '/total' } }), true)
  assert.equal(one({ at: '/structuredContent/total', equals: { $argument: '/missing' } }), false)
  assert.equal(one({ at: '/structuredContent/total', equals: { $argument: '/many/*/a' } }), false)
  assert.equal(one({ at: '/structuredContent/none', equals: null }), true)
})

test('contains looks into texts and arrays, and an empty text is in none', () => {
  assert.equal(one({ at: '/content/1/text', contains: 'was placed' }), true)
  assert.equal(one({ at: '/content/1/text', contains: { $argument: '/id' } }), true)
  assert.equal(one({ at: '/content/1/text', contains: { $argument: '/sku' } }), false)
  assert.equal(one({ at: '/content/1/text', contains: '' }), false)
  assert.equal(one({ at: '/content/1/text', contains: { $argument: '/empty' } }), false)
  assert.equal(one({ at: '/structuredContent/lines', contains: { $argument: '/sku' } }), false)
  assert.equal(one({ at: '/structuredContent/total', contains: '12' }), false)
})

test('inJson goes on inside a text that is JSON, read strictly', () => {
  assert.equal(one({ at: '/content/0/text', inJson: '/order/id', equals: { $argument: '/id' } }), true)
  assert.equal(one({ at: '/content/0/text', inJson: '/order/tags', contains: 'paid' }), true)
  assert.equal(one({ at: '/content/0/text', inJson: '/order/tags', equals: { $argument: '/list' } }), true)
  assert.equal(one({ at: '/content/1/text', inJson: '/order' }), false)
  const twice: JsonObject = { text: '{"ok":false,"ok":true}' }
  assert.equal(holds([{ at: '/text', inJson: '/ok', equals: true }], twice, sent), false)
})

test('where a star leads to several values, one that fits is enough', () => {
  assert.equal(one({ at: '/structuredContent/lines/*/sku', equals: { $argument: '/sku' } }), true)
  assert.equal(one({ at: '/structuredContent/lines/*/sku', equals: 'z' }), false)
})

test('all conditions have to hold, and no conditions prove nothing', () => {
  const good: Condition = { at: '/structuredContent/total', equals: 12.5 }
  assert.equal(holds([good, { at: '/content/1/text', contains: 'placed' }], result, sent), true)
  assert.equal(holds([good, { at: '/none' }], result, sent), false)
  assert.equal(holds([], result, sent), false)
})

test('an object with more than $argument is a value like any other', () => {
  const odd: Json = { $argument: '/id', more: 1 }
  assert.equal(holds([{ at: '/x', equals: odd }], { x: odd }, sent), true)
})
