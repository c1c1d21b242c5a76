import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../words/json.ts'
import { readArguments } from './arguments.ts'
import { restoreKeys } from './keys.ts'
import { profileOf } from './profiles.ts'
import { projectSchema } from './schema.ts'

const long = 'k'.repeat(70)
const schema: JsonObject = {
  type: 'object',
  properties: {
    $top: { type: 'integer', description: 'How many.' },
    'user[name]': { type: 'string' },
    'user{name}': { type: 'string' },
    [long]: { type: 'object', properties: { $inner: { type: 'string' } }, required: ['$inner'] },
    again: { $ref: '#/properties/$top' },
    child: { $ref: '#' },
  },
  required: ['$top', long],
  dependentRequired: { $top: ['user[name]'] },
}

function project(kind: 'anthropic' | 'google', of: JsonObject = schema) {
  const projected = projectSchema(of, profileOf(kind))
  assert.equal(projected.kind, 'fits')
  return projected as Extract<typeof projected, { kind: 'fits' }>
}

test('T2: keys are renamed by rule, `required` and references along with them, and the old name is said', () => {
  const { schema: shown, keys } = project('anthropic')
  const back = new Map([...keys].map(([key, name]) => [name, key]))
  assert.equal(keys.size, 4)
  for (const key of Object.keys(shown['properties'] as JsonObject)) assert.match(key, /^[A-Za-z0-9_.-]{1,64}$/)
  const top = back.get('$top')!
  assert.match(top, /^top_[0-9a-f]{8}$/)
  assert.deepEqual(shown['required'], [top, back.get(long)!].sort())
  assert.deepEqual(shown['dependentRequired'], { [top]: [back.get('user[name]')] })
  const properties = shown['properties'] as { [name: string]: JsonObject }
  assert.equal(properties['again']!['$ref'], `#/properties/${top}`)
  assert.equal(properties[top]!['description'], 'How many. (The server calls this "$top".)')
})

test('T2: two keys that clean to the same text get different names, whatever the order of the keys', () => {
  const { keys } = project('anthropic')
  const names = [...keys].filter(([, name]) => name.startsWith('user')).map(([key]) => key)
  assert.equal(new Set(names).size, 2)
  const reversed = { ...schema, properties: Object.fromEntries(Object.entries(schema['properties']!).toReversed()) }
  assert.equal(JSON.stringify(project('anthropic', reversed).schema), JSON.stringify(project('anthropic').schema))
})

test('T2: a rule for the root leaves nested keys alone, and one for all depths does not', () => {
  const nested = (kind: 'anthropic' | 'google'): string[] => {
    const { schema: shown, keys } = project(kind)
    const key = [...keys].find(([, name]) => name === long)![0]
    return Object.keys(((shown['properties'] as JsonObject)[key] as JsonObject)['properties'] as JsonObject)
  }
  assert.deepEqual(nested('anthropic'), ['$inner'])
  assert.match(nested('google')[0]!, /^inner_[0-9a-f]{8}$/)
})

test('T2: a call with the new names reaches the server with the old ones, at every depth', () => {
  const { keys } = project('google')
  const back = new Map([...keys].map(([key, name]) => [name, key]))
  const sent = {
    [back.get('$top')!]: 1,
    child: { [back.get(long)!]: { [back.get('$inner')!]: 'x' } },
    list: [{ a: 1 }],
  }
  const read = readArguments(JSON.stringify(sent), keys)
  assert.equal(read.kind, 'read')
  if (read.kind !== 'read') return
  assert.deepEqual(JSON.parse(read.text), { $top: 1, child: { [long]: { $inner: 'x' } }, list: [{ a: 1 }] })
  assert.deepEqual(read.shown, sent)
})

test('T2: the same argument under its old and its new name is refused, not merged', () => {
  const { keys } = project('anthropic')
  const key = [...keys].find(([, name]) => name === '$top')![0]
  assert.equal(restoreKeys({ [key]: 1, $top: 2 }, keys), undefined)
  assert.equal(readArguments(JSON.stringify({ [key]: 1, $top: 2 }), keys).kind, 'unreadable')
})
