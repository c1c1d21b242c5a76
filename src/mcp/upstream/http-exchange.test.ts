import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dispatcher } from 'undici'
import { Exchange } from './http-exchange.ts'
import type { HttpGround } from './http.ts'
import { noStrays, type Ended } from './link.ts'

/** An exchange as undici would drive it, with all that comes of it. */
function exchange(): { leg: Exchange; ends: Ended[]; aborts: Error[]; over: () => number; start: () => void } {
  const ends: Ended[] = []
  const aborts: Error[] = []
  let overs = 0
  const ground = {
    events: { notification: () => {}, request: () => {}, missed: () => {}, down: () => {} },
    strays: noStrays(),
    messageBytes: 1000,
    revision: '2025-11-25',
    sessionId: undefined,
    over: () => void overs++,
    begun: () => {},
    sessionLost: () => {},
    post: () => Promise.resolve(),
    resume: () => undefined,
  } satisfies HttpGround
  const leg = new Exchange(ground, {
    id: 1,
    method: 'tools/call',
    text: '',
    headers: [],
    end: (ended) => void ends.push(ended),
  })
  const start = (): void => {
    const controller = {
      abort: (reason: Error) => void aborts.push(reason),
    } as unknown as Dispatcher.DispatchController
    leg.onRequestStart(controller)
  }
  return { leg, ends, aborts, over: () => overs, start }
}

test('a request that is started a second time is stopped before it leaves again, and has no answer', () => {
  const { ends, aborts, start } = exchange()
  start()
  assert.deepEqual([ends.length, aborts.length], [0, 0])
  start()
  assert.equal(aborts.length, 1)
  assert.deepEqual(
    ends.map(({ outcome }) => outcome.kind),
    ['no-answer'],
  )
})

test('a request that was dropped while it waited is stopped before it leaves', () => {
  const { leg, ends, aborts, start } = exchange()
  assert.equal(leg.sent, false)
  leg.drop()
  start()
  assert.equal(leg.sent, false)
  assert.equal(aborts.length, 1)
  assert.deepEqual(ends, [])
})

test('a fault before the start is proof that nothing was sent; the same fault after it is none', () => {
  const fault = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  const before = exchange()
  before.leg.onResponseError(undefined, fault)
  assert.deepEqual(before.ends, [{ outcome: { kind: 'not-sent', why: 'the server cannot be reached (ECONNRESET)' } }])
  const after = exchange()
  after.start()
  after.leg.onResponseError(undefined, fault)
  assert.deepEqual(
    after.ends.map(({ outcome }) => outcome.kind),
    ['no-answer'],
  )
  assert.deepEqual([before.over(), after.over()], [1, 1])
})
