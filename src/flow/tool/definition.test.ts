import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import { instructionsDigest, pinOf } from './definition.ts'

const definition: JsonObject = {
  name: 'read_note',
  title: 'Read a note',
  description: 'Reads.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
  icons: [{ src: 'https://a.example/i.png' }],
  execution: { taskSupport: 'forbidden' },
  _meta: { 'x/y': 1 },
  unknownField: 'z',
}
const base = {
  kind: 'tool',
  definition,
  serverIdentity: digest('server'),
  instructions: instructionsDigest('Be kind.'),
} as const

test('the pin does not depend on the order of keys', () => {
  const turned = Object.fromEntries(Object.entries(definition).toReversed())
  assert.equal(pinOf({ ...base, definition: turned }), pinOf(base))
})

test('every field of a definition is pinned: a change, an addition or a removal in any of them is another pin', () => {
  const pins = new Set([pinOf(base)])
  for (const key of Object.keys(definition)) {
    const { [key]: _, ...without } = definition
    pins.add(pinOf({ ...base, definition: without }))
    pins.add(pinOf({ ...base, definition: { ...definition, [key]: 'changed' } }))
  }
  pins.add(pinOf({ ...base, definition: { ...definition, more: null } }))
  pins.add(pinOf({ ...base, definition: { ...definition, description: 'Reads.\u200b' } }))
  assert.equal(pins.size, 2 * Object.keys(definition).length + 3)
})

test('the pin covers the kind, the identity of the server and its instructions', () => {
  const pins = [
    pinOf(base),
    pinOf({ ...base, kind: 'prompt' }),
    pinOf({ ...base, serverIdentity: digest('other') }),
    pinOf({ ...base, instructions: instructionsDigest('Be kind!') }),
    pinOf({ ...base, instructions: instructionsDigest('') }),
    pinOf({ ...base, instructions: instructionsDigest(undefined) }),
    pinOf({ ...base, instructions: instructionsDigest('\ud800') }),
    pinOf({ ...base, instructions: instructionsDigest('\ufffd') }),
  ]
  assert.equal(new Set(pins).size, pins.length)
})

test('a definition without a canonical form has no pin', () => {
  let deep: JsonObject = {}
  for (let n = 0; n < 100; n++) deep = { deep }
  assert.throws(() => pinOf({ ...base, definition: deep }), { code: 'TOO_DEEP' })
})
