import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../words/json.ts'
import { headerValue, mirroredParameters, namedBy, parameterHeaders, textOfHeaderValue } from './headers.ts'

test('text that is safe in a header goes as it is, and all other text as base64 between the sentinels', () => {
  assert.equal(headerValue('get_weather'), 'get_weather')
  assert.equal(headerValue('two words'), 'two words')
  assert.equal(headerValue('Zürich'), '=?base64?WsO8cmljaA==?=')
  for (const text of ['', ' a', 'a ', 'a\r\nb: c', 'a\u0000', '=?base64?QQ==?=']) {
    assert.match(headerValue(text), /^=\?base64\?[A-Za-z0-9+/=]*\?=$/)
  }
})

test('any well-formed text comes back from its header value, which never breaks the header', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const value = headerValue(text)
      assert.match(value, /^[\t\x20-\x7e]+$/)
      assert.equal(value, value.trim())
      assert.equal(textOfHeaderValue(value), text)
    }),
  )
})

test('a broken code is no text', () => {
  assert.equal(textOfHeaderValue('=?base64?WsO8?='), 'Zü')
  for (const value of ['=?base64?!!!?=', '=?base64?QQ?=', '=?base64?/w==?='])
    assert.equal(textOfHeaderValue(value), undefined)
})

test('Mcp-Name is the name of a tool or a prompt, the URI of a resource, and nothing of a list', () => {
  assert.equal(namedBy('tools/call', { name: 'a' }), 'a')
  assert.equal(namedBy('prompts/get', { name: 'b' }), 'b')
  assert.equal(namedBy('resources/read', { uri: 'c:d' }), 'c:d')
  assert.equal(namedBy('tools/list', { name: 'e' }), undefined)
})

const schema = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })

test('parameters that are reached through properties alone are mirrored, with their values as text', () => {
  const mirrored = mirroredParameters(
    schema({
      region: { type: 'string', 'x-mcp-header': 'Region' },
      deep: schema({
        dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
        n: { type: 'integer', 'x-mcp-header': 'N' },
      }),
    }),
  )
  assert.ok(mirrored.kind === 'valid')
  const headers = (values: JsonObject): string[] => parameterHeaders(mirrored.parameters, values)
  assert.deepEqual(headers({ region: 'eu', deep: { dry: true, n: -3 } }), [
    'mcp-param-region',
    'eu',
    'mcp-param-dry-run',
    'true',
    'mcp-param-n',
    '-3',
  ])
  assert.deepEqual(headers({ region: null, deep: { n: 1.5 } }), [])
  assert.deepEqual(headers({ region: 'ä' }), ['mcp-param-region', '=?base64?w6Q=?='])
})

test('a property that is called x-mcp-header, or data that holds the word, is no annotation', () => {
  const mirrored = mirroredParameters(
    schema({ 'x-mcp-header': { type: 'string', default: { 'x-mcp-header': 'no' }, enum: [{ 'x-mcp-header': 1 }] } }),
  )
  assert.deepEqual(mirrored, { kind: 'valid', parameters: [] })
})

test('an annotation that breaks the rules makes the definition invalid', () => {
  const text = { type: 'string', 'x-mcp-header': 'A' }
  const invalid: JsonObject[] = [
    { ...schema({}), 'x-mcp-header': 'Root' },
    schema({ a: { type: 'string', 'x-mcp-header': '' } }),
    schema({ a: { type: 'string', 'x-mcp-header': 'a b' } }),
    schema({ a: { type: 'string', 'x-mcp-header': 'a\r\nb' } }),
    schema({ a: { type: 'string', 'x-mcp-header': 5 } }),
    schema({ a: { type: 'number', 'x-mcp-header': 'A' } }),
    schema({ a: { type: ['string', 'null'], 'x-mcp-header': 'A' } }),
    schema({ a: text, b: { type: 'string', 'x-mcp-header': 'a' } }),
    schema({ a: { type: 'array', items: text } }),
    schema({ a: { anyOf: [{ type: 'integer' }, text] } }),
    schema({}, { $defs: { a: text } }),
    schema({}, { allOf: [schema({ a: text })] }),
    schema({}, { if: schema({ a: text }) }),
    schema({}, { additionalProperties: text }),
    schema({}, { patternProperties: { '^a': text } }),
  ]
  for (const each of invalid) assert.equal(mirroredParameters(each).kind, 'invalid', JSON.stringify(each))
})
