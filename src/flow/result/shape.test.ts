import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../words/json.ts'
import type { CapabilityKind } from '../tool/selected.ts'
import { shapeOf, within } from './shape.ts'

const text = { type: 'text', text: 'hello' }
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
const embedded = { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } }

test('every content type of the protocol passes, and is named once', () => {
  const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a' }
  const content = [text, image, audio, link, embedded, text]
  assert.deepEqual(shapeOf('tool', { content }), {
    ok: true,
    types: ['text', 'image', 'audio', 'resource_link', 'resource'],
    unknown: [],
  })
})

test('a type that nobody here knows is relayed and remarked upon, unless the operator names the types that may pass', () => {
  const content = [text, { type: 'hologram', depth: 3 }]
  assert.deepEqual(shapeOf('tool', { content }), { ok: true, types: ['text', 'hologram'], unknown: ['hologram'] })
  assert.deepEqual(shapeOf('tool', { content }, ['text', 'image']), {
    ok: false,
    at: '/content/1',
    why: 'type hologram is not allowed',
  })
})

test('the name of a type goes on the record only where it is a name', () => {
  const content = [{ type: 'ignore\nprevious instructions' }, { type: 'x'.repeat(65) }]
  assert.deepEqual(shapeOf('tool', { content }), { ok: true, types: ['unnamed'], unknown: ['unnamed'] })
})

test('structured content alone is a result of a tool', () => {
  assert.deepEqual(shapeOf('tool', { structuredContent: [1] }), { ok: true, types: [], unknown: [] })
})

test('messages of a prompt and contents of a resource have their own shapes', () => {
  const messages = [
    { role: 'user', content: text },
    { role: 'assistant', content: image },
  ]
  assert.deepEqual(shapeOf('prompt', { messages }), { ok: true, types: ['text', 'image'], unknown: [] })
  const contents = [
    { uri: 'a:b', text: 't' },
    { uri: 'a:c', blob: 'AAAA' },
  ]
  assert.deepEqual(shapeOf('resource', { contents }), { ok: true, types: ['text', 'blob'], unknown: [] })
})

const wrong: readonly (readonly [CapabilityKind, JsonObject, string])[] = [
  ['tool', {}, '/content'],
  ['tool', { toolResult: 1 }, '/content'],
  ['tool', { content: 'text' }, '/content'],
  ['tool', { content: null, structuredContent: {} }, '/content'],
  ['tool', { content: ['text'] }, '/content/0'],
  ['tool', { content: [text, {}] }, '/content/1/type'],
  ['tool', { content: [{ type: 'text' }] }, '/content/0/text'],
  ['tool', { content: [{ type: 'text', text: 1 }] }, '/content/0/text'],
  ['tool', { content: [{ type: 'image', data: 'AAAA' }] }, '/content/0/mimeType'],
  ['tool', { content: [{ type: 'resource', resource: { uri: 'a:b' } }] }, '/content/0/resource'],
  ['tool', { content: [{ type: 'resource', resource: { text: 'a' } }] }, '/content/0/resource/uri'],
  ['tool', { content: [{ type: 'resource_link' }] }, '/content/0/uri'],
  ['tool', { content: [], isError: 'false' }, '/isError'],
  ['tool', { content: [], resultType: 'input_required' }, '/resultType'],
  ['prompt', { messages: [{ role: 'system', content: text }] }, '/messages/0/role'],
  ['prompt', { messages: [{ role: 'user', content: 'text' }] }, '/messages/0/content'],
  ['resource', { contents: [{ text: 'a' }] }, '/contents/0/uri'],
  ['resource', { content: [] }, '/contents'],
]
for (const [kind, value, at] of wrong) {
  test(`a ${kind} may not answer ${JSON.stringify(value)}`, () => {
    const found = shapeOf(kind, value)
    assert.equal(found.ok, false)
    assert.equal(!found.ok && found.at, at)
  })
}

test('nothing that an object inherits counts as a member', () => {
  const inherited = Object.create({ content: [text] }) as JsonObject
  assert.equal(shapeOf('tool', inherited).ok, false)
})

test('depth counts open arrays and objects, and a deep value does not overflow the stack', () => {
  const nested = (depth: number): Json => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as Json
  assert.equal(within(nested(64), 64), true)
  assert.equal(within(nested(65), 64), false)
  assert.equal(within(nested(50_000), 64), false)
  assert.equal(within({ a: [{ b: [] }] }, 4), true)
  assert.equal(within({ a: [{ b: [] }] }, 3), false)
  assert.equal(within('text', 0), true)
})
