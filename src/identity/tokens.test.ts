import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digest } from '../words/digest.ts'
import { Secret } from '../words/secret.ts'
import { TokenIdentities } from './tokens.ts'

const token = 'a'.repeat(43)
const identities = new TokenIdentities({ id: 'local', tenant: 'local', kind: 'user', groups: [] }, [
  { tokenDigest: digest(token), principal: { id: 'ci', tenant: 'acme', kind: 'service', groups: ['robots'] } },
])

test('a token that was issued names its principal and tenant', () => {
  const found = identities.verify({ kind: 'bearer', token: new Secret(token) }, 0)
  assert.ok('id' in found)
  assert.deepEqual([found.id, found.tenant, found.proof], ['ci', 'acme', 'token'])
})

test('an invented token, an empty one and none at all name nobody', () => {
  for (const credential of [
    { kind: 'bearer', token: new Secret('b'.repeat(43)) },
    { kind: 'bearer', token: new Secret('') },
    { kind: 'none' },
    { kind: 'library', principal: 'root' },
  ] as const) {
    const found = identities.verify(credential, 0)
    assert.ok('code' in found, credential.kind)
    assert.equal(found.code, 'NO_IDENTITY')
  }
})

test('a token is good until the moment at which it expires, and then is told apart from one that never was', () => {
  const expiring = new TokenIdentities({ id: 'local', tenant: 'local', kind: 'user', groups: [] }, [
    {
      tokenDigest: digest(token),
      principal: { id: 'ci', tenant: 'acme', kind: 'service', groups: [], expiresAt: 1000 },
    },
  ])
  for (const credential of [
    { kind: 'bearer', token: new Secret(token) },
    { kind: 'library', principal: 'ci' },
  ] as const) {
    assert.ok('id' in expiring.verify(credential, 999))
    for (const now of [1000, 5000]) {
      const found = expiring.verify(credential, now)
      assert.equal('code' in found && found.code, 'IDENTITY_EXPIRED', credential.kind)
    }
  }
})
