import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../words/json.ts'
import { type ProviderKind, profileOf } from './profiles.ts'
import { projectSchema } from './schema.ts'

const kinds: readonly ProviderKind[] = ['anthropic', 'openai-responses', 'openai-chat', 'google', 'compatible']

function fits(schema: JsonObject, kind: ProviderKind = 'anthropic') {
  const projected = projectSchema(schema, profileOf(kind))
  assert.equal(projected.kind, 'fits', projected.kind === 'quarantined' ? projected.why : '')
  return projected as Extract<typeof projected, { kind: 'fits' }>
}

function quarantined(schema: JsonObject, kind: ProviderKind = 'anthropic'): string {
  const projected = projectSchema(schema, profileOf(kind))
  assert.equal(projected.kind, 'quarantined')
  return projected.kind === 'quarantined' ? projected.why : ''
}

test('T1: a union of required sets at the root becomes one object with the alternative in words, for every provider', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  }
  for (const kind of kinds) {
    const { schema: shown, notes } = fits(schema, kind)
    assert.deepEqual(shown, { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } })
    assert.deepEqual(notes, ['Give at least one of these sets of arguments: a; or b.'])
  }
})

test('T1: a union of whole objects merges their properties, requires what all require, and keeps what differs as a choice', () => {
  const { schema, notes } = fits({
    oneOf: [
      { type: 'object', properties: { kind: { const: 'file' }, path: { type: 'string' } }, required: ['kind', 'path'] },
      { $ref: '#/$defs/link' },
    ],
    $defs: { link: { properties: { kind: { const: 'link' }, url: { type: 'string' } }, required: ['kind', 'url'] } },
  })
  assert.deepEqual(schema['properties'], {
    kind: { anyOf: [{ const: 'file' }, { const: 'link' }] },
    path: { type: 'string' },
    url: { type: 'string' },
  })
  assert.deepEqual(schema['required'], ['kind'])
  assert.equal(schema['oneOf'], undefined)
  assert.deepEqual(notes, ['Give exactly one of these sets of arguments: kind + path; or kind + url.'])
})

test('T1: allOf at the root requires what any part requires; a part that is no object sets the tool aside', () => {
  const { schema } = fits({
    allOf: [
      { properties: { a: { type: 'string' } }, required: ['a'] },
      { properties: { b: {} }, required: ['b'] },
    ],
  })
  assert.deepEqual(schema['required'], ['a', 'b'])
  assert.match(quarantined({ allOf: [{ type: 'string' }] }), /not an object/)
  assert.match(quarantined({ anyOf: [{ type: 'string' }, { type: 'null' }] }), /no branch/)
})

test('T3: parameters named like keywords survive with the same schemas', () => {
  const odd = ['definitions', 'type', 'properties', 'required', 'items', 'enum', 'not', '$ref', 'anyOf', '__proto__']
  const properties = Object.fromEntries(odd.map((name) => [name, { type: 'string', description: name }]))
  for (const kind of kinds) {
    const { schema, keys } = fits({ type: 'object', properties, required: ['type'] }, kind)
    const shown = schema['properties'] as JsonObject
    for (const name of odd) {
      const key = [...keys].find(([, old]) => old === name)?.[0] ?? name
      assert.equal((shown[key] as JsonObject)['type'], 'string', `${kind}: ${name}`)
    }
    assert.deepEqual(schema['required'], ['type'])
  }
})

test('T4: a root without type or properties gets both; null in their place counts as nothing', () => {
  const empty = { type: 'object', properties: {} }
  for (const kind of kinds) {
    assert.deepEqual(fits({}, kind).schema, empty)
    assert.deepEqual(fits({ type: 'object' }, kind).schema, empty)
    assert.deepEqual(fits({ type: 'object', properties: null, required: null }, kind).schema, empty)
    assert.deepEqual(fits({ properties: { x: { type: 'string' } } }, kind).schema, {
      type: 'object',
      properties: { x: { type: 'string' } },
    })
    assert.equal(fits({ type: ['object', 'null'] }, kind).schema['type'], 'object')
    assert.match(quarantined({ type: 'string' }, kind), /arguments of a tool are an object/)
  }
})

test('T4: a boolean where a property is described becomes an object; elsewhere it keeps its meaning', () => {
  const { schema } = fits({
    type: 'object',
    properties: { any: true, none: false, list: { type: 'array', items: true } },
    additionalProperties: false,
  })
  assert.deepEqual(schema['properties'], { any: {}, none: { not: {} }, list: { type: 'array', items: true } })
  assert.equal(schema['additionalProperties'], false)
})

test('T4: what is no schema sets the tool aside, with the place', () => {
  assert.match(quarantined({ properties: { x: 'string' } }), /at \/properties\/x/)
  assert.match(quarantined({ properties: { 'a/b': { type: 'str' } } }), /at \/properties\/a~1b\/type/)
  assert.match(quarantined({ properties: [] }), /not an object of schemas/)
})

test('T6: recursion through $defs, definitions and the root is kept as it is', () => {
  for (const root of ['$defs', 'definitions']) {
    const node: JsonObject = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: `#/${root}/node` } } },
    }
    const schema: JsonObject = { type: 'object', properties: { tree: { $ref: `#/${root}/node` } }, [root]: { node } }
    for (const kind of kinds) assert.deepEqual(fits(schema, kind).schema, schema)
  }
  const mutual: JsonObject = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' }, self: { $ref: '#' } },
    $defs: { a: { properties: { b: { $ref: '#/$defs/b' } } }, b: { properties: { a: { $ref: '#/$defs/a' } } } },
  }
  assert.deepEqual(fits(mutual).schema, mutual)
})

test('T6: references into properties, with escapes, and to anchors are followed', () => {
  fits({ properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } } })
  fits({ properties: { b: { $ref: '#/$defs/x~1y%20z~0' } }, $defs: { 'x/y z~': { type: 'string' } } })
  fits({ properties: { b: { $ref: '#here' } }, $defs: { x: { $anchor: 'here' } } })
})

test('T6: a reference to nothing or to elsewhere sets that tool aside, and nothing is fetched', () => {
  assert.match(
    quarantined({ properties: { a: { $ref: '#/$defs/missing' } } }),
    /leads to no schema \(at \/properties\/a\)/,
  )
  assert.match(quarantined({ properties: { a: { $ref: 'https://example.com/a.json' } } }), /leads outside/)
  assert.match(quarantined({ properties: { a: { $ref: '#/constructor' } } }), /leads to no schema/)
  assert.match(
    quarantined({ anyOf: [{ properties: { a: { $ref: '#/anyOf/0/x' } }, x: {} }, {}] }),
    /leads to no schema/,
  )
})

test('T6: a schema that is too deep or too wide is set aside in bounded time', () => {
  let deep: JsonObject = { type: 'string' }
  for (let n = 0; n < 200; n++) deep = { properties: { a: deep } }
  assert.match(quarantined(deep), /nested deeper than 64/)
  const wide = Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`p${n}`, {}]))
  assert.match(quarantined({ properties: wide }), /more than 10000 schemas/)
})

test('a constraint that a provider does not take is left out, said in words, and kept for the others', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { x: { type: 'string', pattern: '^(?!a)b' }, m: { type: 'object', propertyNames: false } },
  }
  const { schema: shown, notes } = fits(schema, 'openai-chat')
  assert.deepEqual(shown['properties'], { x: { type: 'string' }, m: { type: 'object' } })
  assert.deepEqual(notes, [
    '/properties/m must also satisfy propertyNames: false.',
    '/properties/x must also satisfy pattern: "^(?!a)b".',
  ])
  assert.deepEqual(fits(schema, 'anthropic').notes, [])
})
