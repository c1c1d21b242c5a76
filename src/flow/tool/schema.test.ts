import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import type { Json } from '../../words/json.ts'
import { compileCheck } from './schema.ts'
import type { SchemaCheck } from './selected.ts'

function checkOf(schema: Json, use: 'arguments' | 'result' = 'result'): SchemaCheck {
  const compiled = compileCheck(schema, use)
  assert.ok('check' in compiled, JSON.stringify(compiled))
  return compiled.check
}

function refusedFor(schema: Json, use: 'arguments' | 'result' = 'result'): string {
  const compiled = compileCheck(schema, use)
  assert.ok('refused' in compiled, 'it was taken')
  return compiled.refused
}

test('valid arguments give no lines, and invalid ones name the place and what is wrong', () => {
  const check = checkOf({
    type: 'object',
    properties: { query: { type: 'string', minLength: 1 }, max_results: { type: 'integer', minimum: 1, maximum: 50 } },
    required: ['query'],
    additionalProperties: false,
  })
  assert.deepEqual(check({ query: 'x', max_results: 50 }), [])
  assert.deepEqual(check({ max_results: 51, other: 1 }), [
    "(whole value): must have required property 'query'",
    '(whole value): must NOT have additional properties: other',
    '/max_results: must be <= 50',
  ])
})

test('at most ten lines are given, and no value of the caller is quoted', () => {
  const check = checkOf({ type: 'array', items: { type: 'integer' } })
  const lines = check(Array.from({ length: 40 }, () => 'sk-secret-0123456789'))
  assert.equal(lines.length, 10)
  assert.doesNotMatch(lines.join(), /secret/)
  const long = checkOf({ type: 'object', additionalProperties: false })({ ['k'.repeat(500)]: 1 })
  assert.ok(long[0]!.length < 200)
})

test('two different patterns both reject: the validator does not mix them up', () => {
  const check = checkOf({
    type: 'object',
    properties: { a: { type: 'string', pattern: '^a$' }, b: { type: 'string', pattern: '^b$' } },
  })
  assert.deepEqual(check({ a: 'a', b: 'b' }), [])
  assert.deepEqual(check({ a: 'a', b: 'a' }), ['/b: must match pattern "^b$"'])
  assert.deepEqual(check({ a: 'b', b: 'b' }), ['/a: must match pattern "^a$"'])
})

test('a pattern that explodes on a backtracking engine takes linear time', () => {
  const check = checkOf({ type: 'string', pattern: '^(a+)+$' })
  const began = performance.now()
  assert.equal(check(`${'a'.repeat(50_000)}!`).length, 1)
  assert.ok(performance.now() - began < 2000)
  assert.match(check('a'.repeat(2_000_000))[0]!, /too much work/)
})

test('a pattern that no linear engine has is refused and says so', () => {
  for (const pattern of ['(?=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '[[:alpha:]]', '\\Aa\\z', '(', 'a{1,2000}']) {
    assert.match(refusedFor({ type: 'string', pattern }), /cannot be compiled/, pattern)
  }
  const unicode = checkOf({ type: 'string', pattern: '^[\\u0041-\\u005a]\\/\\-\\d{2}$' })
  assert.deepEqual(unicode('B/-12'), [])
  assert.equal(unicode('b/-12').length, 1)
})

test('one value judged in very many ways is refused at admission', () => {
  const $defs: { [name: string]: Json } = { l0: { type: 'string', minLength: 3 } }
  for (let n = 1; n <= 22; n++)
    $defs[`l${n}`] = { anyOf: [{ $ref: `#/$defs/l${n - 1}` }, { $ref: `#/$defs/l${n - 1}` }] }
  assert.match(refusedFor({ $ref: '#/$defs/l22', $defs }), /more than 2000 ways/)
  assert.deepEqual(checkOf({ $ref: '#/$defs/l7', $defs })('abc'), [])
})

test('work that grows with the depth of the value ends when the steps are spent', () => {
  const again = { properties: { c: { $ref: '#' } } }
  const check = checkOf({ type: 'object', anyOf: [again, again] })
  let value: Json = 'a leaf that does not fit'
  for (let n = 0; n < 40; n++) value = { c: value }
  const began = performance.now()
  assert.match(check(value)[0]!, /too much work/)
  assert.ok(performance.now() - began < 3000)
})

test('unique items are found without comparing each with each', () => {
  const check = checkOf({ type: 'array', uniqueItems: true })
  const items = Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'x' }))
  const began = performance.now()
  assert.deepEqual(check(items), [])
  assert.deepEqual(check([...items, { text: 'x', n: 7 }]), ['(whole value): must not have the same item twice'])
  assert.ok(performance.now() - began < 2000)
  assert.deepEqual(check([1, '1', true, 'true', null, []]), [])
})

test('hostile schemas are refused with a reason', () => {
  let deep: Json = {}
  for (let n = 0; n < 60; n++) deep = { not: deep }
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`p${n}`, { type: 'string' }]))
  assert.match(refusedFor(deep), /nested deeper/)
  assert.match(refusedFor({ properties: many }), /more than 1000 schemas/)
  assert.match(refusedFor({ description: 'x'.repeat(300_000) }), /larger than/)
  assert.match(refusedFor({ pattern: 'a'.repeat(1001) }), /longer than/)
  assert.match(refusedFor({ $ref: '#' }), /refers to itself/)
  assert.match(
    refusedFor({ allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }),
    /refers to itself/,
  )
  assert.match(refusedFor({ enum: Array.from({ length: 20_001 }, (_, n) => n) }), /lists more than/)
})

test('a reference that leads out or to nothing is refused, and nothing is fetched', () => {
  for (const $ref of ['https://example.test/s.json', 'other.json', 'file:///etc/passwd', '//x', '']) {
    assert.match(refusedFor({ $ref }), /leads out/, $ref)
  }
  for (const $ref of ['#/$defs/none', '#none', '#/properties/*', '#/title', '#%', '#/constructor']) {
    assert.match(refusedFor({ $ref, title: 'x' }), /leads to nothing/, $ref)
  }
  assert.match(refusedFor({ properties: { a: { $id: 'https://example.test/x', $ref: '#/a' } } }), /\$id of its own/)
})

test('references within the schema work in all their spellings', () => {
  const schema: Json = {
    $id: 'https://example.test/tool',
    type: 'object',
    properties: {
      'a/b': { $ref: '#/$defs/te~1xt%20~0x' },
      anchor: { $ref: '#num' },
      absolute: { $ref: 'https://example.test/tool#/$defs/te~1xt%20~0x' },
      sibling: { $ref: '#/properties/anchor' },
      tree: { $ref: '#/$defs/tree' },
    },
    $defs: {
      'te/xt ~x': { type: 'string' },
      number: { $anchor: 'num', type: 'number' },
      tree: {
        type: 'object',
        properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
        additionalProperties: false,
      },
    },
  }
  const check = checkOf(schema)
  assert.deepEqual(
    check({ 'a/b': 'x', anchor: 1, absolute: 'x', sibling: 2, tree: { children: [{ children: [] }] } }),
    [],
  )
  for (const wrong of [
    { 'a/b': 1 },
    { anchor: 'x' },
    { absolute: 1 },
    { sibling: 'x' },
    { tree: { children: [{ x: 1 }] } },
  ]) {
    assert.equal(check(wrong).length, 1, JSON.stringify(wrong))
  }
})

test('keywords that would make the validator do something else are without effect', () => {
  const check = checkOf({
    $async: true,
    type: 'string',
    $data: true,
    nullable: true,
    discriminator: { propertyName: 'x' },
    formatMinimum: 'x',
  })
  assert.deepEqual(check('x'), [])
  assert.equal(check(1).length, 1)
  const other = checkOf({ type: 'object', properties: { a: { const: { $data: '1/b' } } } })
  assert.equal(other({ a: 'x', b: 'x' }).length, 1)
})

test('the dialect is the declared one, and others than two are refused', () => {
  const tuple: Json = { type: 'array', items: [{ type: 'string' }], additionalItems: false }
  const draft7 = checkOf({ $schema: 'http://json-schema.org/draft-07/schema#', ...tuple })
  assert.deepEqual(draft7(['x']), [])
  assert.equal(draft7(['x', 1]).length, 1)
  assert.match(refusedFor(tuple), /not valid/)
  const modern = checkOf({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    prefixItems: [{ type: 'string' }],
    items: false,
  })
  assert.equal(modern(['x', 1]).length, 1)
  for (const $schema of [
    'http://json-schema.org/draft-04/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'x',
    7,
  ]) {
    assert.match(refusedFor({ $schema }), /dialect/)
  }
})

test('schemas that are not valid are refused', () => {
  for (const schema of [
    { type: 'strnig' },
    { minimum: '1' },
    { properties: [] },
    { required: 'a' },
    { allOf: {} },
    { not: [] },
    { anyOf: [] },
  ] as Json[]) {
    assert.ok(refusedFor(schema), JSON.stringify(schema))
  }
})

test('arguments are described by an object schema or not at all', () => {
  assert.match(refusedFor({ type: 'string' }, 'arguments'), /does not describe an object/)
  for (const schema of [null, true, [], 'x'] as Json[]) assert.match(refusedFor(schema, 'arguments'), /not an object/)
  for (const schema of [
    {},
    { type: ['object', 'null'] },
    { type: 'object', properties: null, required: null },
  ] as Json[]) {
    assert.deepEqual(checkOf(schema, 'arguments')({ a: 1 }), [])
  }
})

test('names that every object inherits are no arguments that were sent', () => {
  const check = checkOf({
    type: 'object',
    required: ['constructor', 'toString'],
    properties: { valueOf: { type: 'string' } },
  })
  assert.equal(check({}).length, 2)
  assert.deepEqual(check({ constructor: 1, toString: 2 }), [])
  const closed = checkOf({ type: 'object', additionalProperties: false })
  assert.equal(closed(JSON.parse('{"__proto__":1}')).length, 1)
})

test('what other parts of a schema have evaluated is known to unevaluatedProperties', () => {
  const check = checkOf({ allOf: [{ properties: { a: {} } }], properties: { b: {} }, unevaluatedProperties: false })
  assert.deepEqual(check({ a: 1, b: 2 }), [])
  assert.deepEqual(check({ a: 1, c: 2 }), ['(whole value): must NOT have unevaluated properties: c'])
})

test('the formats that are checked take what is right and refuse what is plainly wrong', () => {
  const cases: readonly (readonly [format: string, right: string[], wrong: string[]])[] = [
    ['date', ['2026-11-30', '2024-02-29', '2000-02-29'], ['2026-02-29', '2026-13-01', '26-1-1', '']],
    [
      'date-time',
      ['2026-11-30T10:00:00Z', '2026-11-30T10:00:00.123+02:00'],
      ['2026-11-30', '2026-11-30T25:00:00Z', 'x'],
    ],
    ['email', ['a@b.example'], ['a', 'a b@c', '@']],
    ['uri', ['https://a.example/x?y=1', 'urn:x:y'], ['a', '/x', 'ht tp://x', '']],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123']],
    ['ipv4', ['127.0.0.1'], ['1.2.3', '1.2.3.4.', '1.2.3.256']],
    ['int32', ['anything'], []],
  ]
  for (const [format, right, wrong] of cases) {
    const check = checkOf({ type: 'string', format })
    for (const text of right) assert.deepEqual(check(text), [], `${format} ${text}`)
    for (const text of wrong) assert.equal(check(text).length, 1, `${format} ${text}`)
  }
})

const keyword = fc.letrec<{ schema: Json; leaf: Json }>((tie) => ({
  leaf: fc.constantFrom<Json[]>(
    { type: 'string' },
    { type: 'integer', minimum: 0 },
    { type: ['null', 'boolean'] },
    { enum: [1, 'a', null] },
    {},
    true,
    false,
  ),
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
      required: fc.subarray(['a', 'b']),
    }),
    fc.record({ items: tie('schema'), maxItems: fc.nat(3) }, { requiredKeys: ['items'] }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }), not: tie('leaf') }),
    fc.record({ properties: fc.record({ a: tie('schema') }), additionalProperties: tie('leaf') }),
  ) as fc.Arbitrary<Json>,
})).schema

const instance = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json[]>(1, -1, 0, 'a', 'b', null, true, 1.5),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
    fc.array(tie('value'), { maxLength: 4 }),
  ) as fc.Arbitrary<Json>,
})).value

test('the check says valid exactly where the plain validator does', () => {
  fc.assert(
    fc.property(keyword, fc.array(instance, { minLength: 1, maxLength: 10 }), (schema, values) => {
      const ajv = new Ajv2020({ strict: false })
      // Its account of evaluated members breaks nested oneOf, and no schema here needs it.
      ajv.opts.unevaluated = false
      const plain = ajv.compile(schema as object)
      const check = checkOf(schema)
      for (const value of values) assert.equal(check(value).length === 0, plain(value), JSON.stringify([schema, value]))
    }),
    { numRuns: 60 },
  )
})
