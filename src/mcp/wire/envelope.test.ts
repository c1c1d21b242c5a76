import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IDEMPOTENCY_KEY, implementation, metaText, withMeta } from './envelope.ts'

test('a modern request declares the revision, no capability, and who we are', () => {
  assert.deepEqual(JSON.parse(metaText('2026-07-28') ?? ''), {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'countersign', version: implementation.version },
  })
})

test('a legacy request has no _meta where there is nothing to say', () => {
  assert.equal(metaText('2025-11-25'), undefined)
  assert.equal(withMeta('{"cursor":""}', undefined), '{"cursor":""}')
})

test('a progress token and the key of the operation go along in both eras', () => {
  const parts = { progressToken: 7, idempotencyKey: 'k"1' }
  assert.deepEqual(JSON.parse(metaText('2025-11-25', parts) ?? ''), { progressToken: 7, [IDEMPOTENCY_KEY]: 'k"1' })
  assert.equal(Object.keys(JSON.parse(metaText('2026-07-28', parts) ?? '') as object).length, 5)
})

test('_meta is put into the text of params without touching the rest of it', () => {
  assert.equal(withMeta('{}', '{"a":1}'), '{"_meta":{"a":1}}')
  assert.equal(withMeta('{ }', '{"a":1}'), '{"_meta":{"a":1}}')
  assert.equal(withMeta('{"uri":"a}b","n":1e2}', '{}'), '{"uri":"a}b","n":1e2,"_meta":{}}')
})
