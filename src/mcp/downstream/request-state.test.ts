import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../words/json.ts'
import { requestDigest, seal, unseal } from './request-state.ts'

const key = randomBytes(32)
const state = {
  subject: { kind: 'approval', id: 'apr_1' } as const,
  tenant: 'acme',
  principal: 'alice',
  request: requestDigest('tools/call', { name: 'x' }),
  expiresAt: 1_000,
}

test('what was sealed is read back with the same key, and never looks the same twice', () => {
  assert.deepEqual(unseal(key, seal(key, state)), state)
  assert.notEqual(seal(key, state), seal(key, state))
  assert.equal(unseal(randomBytes(32), seal(key, state)), undefined)
})

test('no text but one that was sealed is read: not one bit of it may differ', () => {
  const sealed = seal(key, state)
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (let at = 0; at < sealed.length; at++) {
    for (const other of [characters[(characters.indexOf(sealed[at]!) + 1) % 64]!, '=', ' ', '']) {
      assert.equal(unseal(key, sealed.slice(0, at) + other + sealed.slice(at + 1)), undefined, `at ${at}`)
    }
  }
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => unseal(key, text) === undefined))
  fc.assert(fc.property(fc.base64String(), (text) => unseal(key, text) === undefined))
  assert.equal(unseal(key, 'A'.repeat(1 << 20)), undefined)
})

test('the digest of a request is of all that a retry repeats, whatever the order, and of nothing else', () => {
  const params: JsonObject = { name: 'x', arguments: { a: 1, b: [2] } }
  const digest = requestDigest('tools/call', params)
  const retry = {
    arguments: { b: [2], a: 1 },
    requestState: 's',
    inputResponses: {},
    _meta: { progressToken: 1 },
    name: 'x',
  }
  assert.equal(requestDigest('tools/call', retry), digest)
  assert.notEqual(requestDigest('prompts/get', params), digest)
  assert.notEqual(requestDigest('tools/call', { ...params, arguments: { a: 1, b: [3] } }), digest)
  assert.notEqual(requestDigest('tools/call', { ...params, extra: null }), digest)
})
