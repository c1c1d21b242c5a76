import assert from 'node:assert/strict'
import { test } from 'node:test'
import { challengeOf } from './challenge.ts'

const challenge = { scheme: 'bearer', error: undefined, scope: undefined, resourceMetadata: undefined }

test('a challenge is found among others, in any case and order, quoted or not', () => {
  assert.deepEqual(challengeOf('Bearer'), challenge)
  assert.deepEqual(challengeOf('BEARER realm="a, b", scope="x y"'), { ...challenge, scope: 'x y' })
  assert.deepEqual(challengeOf('Basic realm="x", Bearer error=invalid_token , resource_metadata="https://a.test/p"'), {
    ...challenge,
    error: 'invalid_token',
    resourceMetadata: 'https://a.test/p',
  })
  assert.deepEqual(challengeOf('Negotiate YWJj==, DPoP algs="ES256", error="use_dpop_nonce"'), {
    ...challenge,
    scheme: 'dpop',
    error: 'use_dpop_nonce',
  })
  assert.deepEqual(challengeOf(['Basic realm="x"', 'Bearer scope="a\\"b"']), { ...challenge, scope: 'a"b' })
  assert.deepEqual(challengeOf('Bearer scope="one", scope="two"'), { ...challenge, scope: 'one' })
})

test('what is no challenge of ours is none', () => {
  for (const text of [
    undefined,
    '',
    'Basic realm="x"',
    '"Bearer"',
    'Bearer\u0000',
    `Bearer scope="${'x'.repeat(9000)}"`,
    '=,=,=',
    ', , ,',
  ])
    assert.equal(challengeOf(text), undefined, String(text).slice(0, 40))
})
