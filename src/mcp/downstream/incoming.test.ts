import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../words/json.ts'
import { withoutMembers } from './members.ts'
import { readIncoming } from './incoming.ts'
import { acceptedForms, isPlainJson } from './posted.ts'
import { framed, spliced } from './reply.ts'

const limits = { bytes: 10_000, depth: 20 }

test('whatever bytes come, they are one message or one error, and never an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.equal(readIncoming(bytes, limits).kind, 'wrong')
    }),
  )
  fc.assert(fc.property(fc.json({ maxDepth: 4 }), (text) => void readIncoming(Buffer.from(text), limits).kind))
})

test('a request is what has a method and an id, and an id is a text or a whole number', () => {
  const kind = (message: unknown) => readIncoming(Buffer.from(JSON.stringify(message)), limits).kind
  const base = { jsonrpc: '2.0', method: 'ping' }
  for (const id of [0, -1, 2 ** 53 - 1, '', 'a']) assert.equal(kind({ ...base, id }), 'request', `${id}`)
  for (const id of [null, 1.5, true, [], {}]) assert.equal(kind({ ...base, id }), 'wrong', JSON.stringify(id))
  assert.equal(kind(base), 'notification')
  assert.equal(kind({ jsonrpc: '2.0', id: 1, result: {} }), 'response')
  assert.equal(kind({ jsonrpc: '2.0', id: 1, result: {}, error: {} }), 'wrong')
  assert.equal(kind({ jsonrpc: '2.0', id: 1 }), 'wrong')
})

test('members are cut out of a text, and the rest keeps its bytes', () => {
  const cut = (text: string, ...names: string[]) =>
    Buffer.from(withoutMembers(Buffer.from(text), JSON.parse(text) as JsonObject, names)).toString()
  assert.equal(cut('{ "a" : 1.0 , "b" : { "a": [2.50] } }', 'a'), '{"b":{ "a": [2.50] }}')
  assert.equal(cut('{"a":1,"b":2,"c":3}', 'b'), '{"a":1,"c":3}')
  assert.equal(cut('{"a":1}', 'a'), '{}')
  assert.equal(cut('{}', 'a'), '{}')
  // A key that two readers could read differently is written anew.
  assert.equal(cut('{"\\u0061":1,"b":2}', 'a'), '{"b":2}')
  const values = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 })
  fc.assert(
    fc.property(values, (value) => {
      const names = Object.keys(value).filter((_, n) => n % 2 === 0)
      const text = JSON.stringify(value, null, 1)
      const rest = JSON.parse(cut(text, ...names)) as JsonObject
      const expected = JSON.parse(text) as Record<string, unknown>
      for (const name of names) delete expected[name]
      assert.deepEqual(rest, expected)
    }),
  )
})

test('a framed answer is one line and means the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('\n', '\r\n', '\r'), (value, blank) => {
      const pretty = JSON.stringify({ value }, null, 2).replaceAll('\n', blank)
      const line = framed('', spliced(1, '', Buffer.from(pretty), ''), '\n').toString()
      assert.match(line, /^[^\r\n]*\n$/)
      assert.deepEqual((JSON.parse(line) as { result: unknown }).result, JSON.parse(pretty))
    }),
  )
})

test('which forms of an answer a client takes', () => {
  for (const [accept, streams] of [
    [undefined, true],
    ['application/json, text/event-stream', true],
    ['TEXT/event-stream', true],
    ['*/*', true],
    ['application/json', false],
    ['application/json, text/event-stream;q=0', false],
  ] as const) {
    assert.deepEqual(acceptedForms(accept), { streams }, accept)
  }
  assert.equal(acceptedForms('text/html'), undefined)
  assert.equal(acceptedForms('application/json;q=0.0'), undefined)
})

test('only JSON in UTF-8 that is not packed is read', () => {
  const is = (type: string | undefined, encoding?: string) =>
    isPlainJson({
      ...(type !== undefined && { 'content-type': type }),
      ...(encoding && { 'content-encoding': encoding }),
    })
  assert.ok(is('application/json'))
  assert.ok(is('Application/JSON; charset="UTF-8"'))
  assert.ok(is('application/json', 'identity'))
  for (const type of [
    undefined,
    '',
    'text/plain',
    'application/jsonp',
    'application/json, text/plain',
    'application/json; charset=latin1',
  ]) {
    assert.ok(!is(type), type)
  }
  assert.ok(!is('application/json', 'gzip'))
})
