import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../words/json.ts'
import { type DriftClass, classifyDrift } from './drift.ts'

const before: JsonObject = {
  name: 'read',
  description: 'Reads.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { path: { type: 'string', maxLength: 10 }, mode: { enum: ['a', 'b'] } },
    required: ['path'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
}
const schema = before['inputSchema'] as JsonObject
const parameters = schema['properties'] as JsonObject
const input = (own: JsonObject): JsonObject => ({ ...before, inputSchema: { ...schema, ...own } })

test('each kind of change has its name', () => {
  const cases: ReadonlyArray<readonly [string, JsonObject, readonly DriftClass[]]> = [
    ['nothing', { ...before }, []],
    ['order of members', Object.fromEntries(Object.entries(before).toReversed()), []],
    ['dialect', input({ $schema: 'https://json-schema.org/draft/2020-12/schema' }), ['dialect']],
    ['icons', { ...before, icons: [] }, ['presentation']],
    ['name', { ...before, name: 'reed' }, ['renamed']],
    ['text', { ...before, description: 'Reads a file.' }, ['reworded']],
    [
      'longer text allowed',
      input({ properties: { ...parameters, path: { type: 'string', maxLength: 20 } } }),
      ['wider'],
    ],
    ['shorter', input({ properties: { ...parameters, path: { type: 'string', maxLength: 5 } } }), ['narrower']],
    ['one value more', input({ properties: { ...parameters, mode: { enum: ['a', 'b', 'c'] } } }), ['wider']],
    ['no longer needed', input({ required: [] }), ['wider']],
    ['needed', input({ required: ['path', 'mode'] }), ['narrower', 'new-required-parameter']],
    ['new switch', input({ properties: { ...parameters, all: { type: 'boolean' } } }), ['wider']],
    [
      'new text',
      input({ properties: { ...parameters, note: { type: 'string' } } }),
      ['wider', 'new-free-text-parameter'],
    ],
    ['anything', input({ additionalProperties: true }), ['wider', 'new-free-text-parameter']],
    [
      'default',
      input({ properties: { ...parameters, path: { type: 'string', maxLength: 10, default: '/' } } }),
      ['default-changed'],
    ],
    ['hint gone', { ...before, annotations: {} }, ['annotation-tightened']],
    ['hint added', { ...before, annotations: { readOnlyHint: true, destructiveHint: false } }, ['annotation-loosened']],
    ['output', { ...before, outputSchema: { type: 'object' } }, ['output-changed']],
    ['unknown member', { ...before, execution: {} }, ['other']],
  ]
  for (const [what, after, classes] of cases) assert.deepEqual(classifyDrift(before, after), classes, what)
})
