import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Breaker } from './breaker.ts'

test('a server that left so many calls in a row unanswered gets no new ones, and after a pause one that tries', () => {
  let now = 1_000
  const breaker = new Breaker({ failures: 3, pauseMs: 500 }, () => now)
  for (let n = 0; n < 3; n++) {
    assert.equal(breaker.admit('a'), undefined)
    breaker.note('a', false)
  }
  assert.equal(breaker.admit('a')?.code, 'UPSTREAM_TRIPPED')
  assert.equal(breaker.admit('b'), undefined, 'another server has nothing to do with it')
  now += 500
  assert.equal(breaker.admit('a'), undefined)
  assert.equal(breaker.admit('a')?.code, 'UPSTREAM_TRIPPED', 'the second waits for the first')
  breaker.note('a', false)
  assert.equal(breaker.admit('a')?.code, 'UPSTREAM_TRIPPED')
  now += 500
  assert.equal(breaker.admit('a'), undefined)
  breaker.note('a', true)
  for (let n = 0; n < 5; n++) assert.equal(breaker.admit('a'), undefined)
})

test('one answer in between and the count begins anew', () => {
  const breaker = new Breaker({ failures: 2, pauseMs: 500 }, () => 0)
  for (const answered of [false, true, false, true, false]) breaker.note('a', answered)
  assert.equal(breaker.admit('a'), undefined)
})
