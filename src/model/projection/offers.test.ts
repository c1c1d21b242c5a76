import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { weatherOffers } from '../../../test/fixtures/providers/toolbox.ts'
import { type Json, isJsonObject } from '../../words/json.ts'
import type { ToolOffer } from '../toolbox.ts'
import { projectTools } from './offers.ts'
import { type ProviderKind, profileOf } from './profiles.ts'

const kinds: readonly ProviderKind[] = ['anthropic', 'openai-responses', 'openai-chat', 'google', 'compatible']

function offer(exported: string, about: Partial<ToolOffer> = {}): ToolOffer {
  return { exported, description: `Does ${exported}.`, inputSchema: { type: 'object' }, server: 'one', ...about }
}

const many: readonly ToolOffer[] = [
  ...weatherOffers,
  offer('one__get.user', {
    inputSchema: {
      type: 'object',
      properties: { $top: { type: 'integer', minimum: 1 }, 'a b': { type: 'string' }, 10: { enum: ['x', 'y'] } },
      required: ['a b', '$top'],
      anyOf: [{ required: ['10'], properties: { 10: { type: 'string' } } }, { required: ['$top'] }],
      $defs: { z: { type: 'string' }, y: { propertyNames: { pattern: '^(?=a)', type: 'string' } } },
    },
  }),
  offer('one__get_user'),
  offer('two__検索', { server: 'two' }),
]

test('T15: the order of servers, tools and object keys shows in no byte of the tools block', () => {
  const shuffled = fc.tuple(fc.shuffledSubarray([...many], { minLength: many.length }), fc.infiniteStream(fc.nat(1000)))
  for (const kind of kinds) {
    const expected = JSON.stringify(projectTools(many, profileOf(kind)))
    fc.assert(
      fc.property(shuffled, ([offers, random]) => {
        const mixed = offers.map((one) => ({
          ...one,
          inputSchema: mix(one.inputSchema, random) as typeof one.inputSchema,
        }))
        assert.equal(JSON.stringify(projectTools(mixed, profileOf(kind))), expected)
      }),
      { numRuns: 30 },
    )
  }
})

test('T15: an edited description changes the digest of its own tool alone, and a tool that joins renames no other', () => {
  const before = projectTools(many, profileOf('anthropic')).tools
  const edited = many.map((one) => (one.exported === 'one__get_user' ? { ...one, description: 'Else.' } : one))
  const changed = projectTools(edited, profileOf('anthropic')).tools.filter(
    (tool, n) => tool.digest !== before[n]!.digest || tool.projectedName !== before[n]!.projectedName,
  )
  assert.deepEqual(
    changed.map((tool) => tool.exported),
    ['one__get_user'],
  )
  const after = projectTools([offer('aa__first'), ...many, offer('one__get-user')], profileOf('anthropic'))
  for (const tool of before) assert.deepEqual(after.byProjectedName(tool.projectedName), tool)
})

test('a tool that cannot be told of is set aside with a reason, and the others are not', () => {
  const bad = offer('one__bad', { inputSchema: { type: 'object', properties: { a: { $ref: 'http://x/y' } } } })
  const { tools, quarantined } = projectTools([bad, offer('one__good')], profileOf('openai-chat'))
  assert.deepEqual(
    tools.map((tool) => tool.exported),
    ['one__good'],
  )
  assert.equal(quarantined[0]!.exported, 'one__bad')
  assert.match(quarantined[0]!.why, /leads outside the schema/)
})

test('the same tool offered twice is told once; two tools under one name are both set aside', () => {
  const twice = projectTools([offer('one__a'), offer('one__a')], profileOf('anthropic'))
  assert.equal(twice.tools.length, 1)
  const clash = projectTools([offer('one__a'), offer('one__a', { server: 'two' }), offer('b')], profileOf('anthropic'))
  assert.deepEqual(
    clash.tools.map((tool) => tool.exported),
    ['b'],
  )
  assert.deepEqual(clash.quarantined, [{ exported: 'one__a', why: 'two tools are offered under this name' }])
})

test('T19: a request never holds more tools than the provider takes, and those left out are named', () => {
  const offers = Array.from({ length: 200 }, (_, n) => offer(`s__tool_${String(n).padStart(3, '0')}`))
  const { tools, omitted } = projectTools(offers.toReversed(), profileOf('openai-chat'))
  assert.equal(tools.length, 128)
  assert.equal(omitted.length, 72)
  assert.equal(tools[127]!.exported, 's__tool_127')
  assert.deepEqual(omitted[0], { exported: 's__tool_128', why: 'this provider takes 128 tools' })
})

test('T23: a tool is found by the map of names and by nothing else', () => {
  const { byProjectedName, tools } = projectTools([offer('constructor'), offer('7')], profileOf('google'))
  for (const name of ['valueOf', 'constructor', '__proto__', '7']) assert.equal(byProjectedName(name), undefined)
  for (const tool of tools) assert.equal(byProjectedName(tool.projectedName), tool)
})

test('what a schema cannot say is in the description and in the warnings', () => {
  const { tools, warnings } = projectTools(weatherOffers, profileOf('anthropic'))
  assert.equal(tools[0]!.description, 'Searches notes.\n\nGive at least one of these sets of arguments: text; or tag.')
  assert.deepEqual(
    warnings.map(({ exported, digest }) => [exported, digest]),
    [['notes__search', tools[0]!.digest]],
  )
})

function mix(value: Json, random: Iterator<number>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => mix(item, random))
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value).map((key) => ({ key, at: random.next().value as number }))
  keys.sort((one, other) => one.at - other.at)
  return Object.fromEntries(keys.map(({ key }) => [key, mix(value[key]!, random)]))
}
