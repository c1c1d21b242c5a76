import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { commitment } from './digest.ts'

test('a commitment is HMAC-SHA-256, for texts and bytes of any length', () => {
  for (const length of [0, 1, 63, 64, 4095, 4096, 4097, 100_000]) {
    const salt = randomBytes(32)
    const bytes = randomBytes(length)
    assert.equal(commitment(salt, bytes), createHmac('sha256', salt).update(bytes).digest('hex'))
    const text = 'ö'.repeat(length)
    assert.equal(commitment(salt, text), createHmac('sha256', salt).update(text).digest('hex'))
  }
  assert.throws(() => commitment(randomBytes(16), ''), /32 bytes/)
})
