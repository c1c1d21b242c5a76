import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSite } from '../fixtures/site.ts'
import { call, openApproved, operationOf, stateOf, until, wordFor } from '../hostile/attack.ts'
import { bankSite, booked, byRef } from './bank.ts'

const quick = 'softDeadlineMs: 200\nhardDeadlineMs: 200'
const key = '{ $operation: upstreamKey }'
const status = (more = '') =>
  `{ by: status, tool: bank/payment, arguments: { key: ${key} }, expect: [{ at: /structuredContent/key, equals: ${key} }, { at: /structuredContent/kind, equals: pay }], settleMs: 20${more} }`
const cancel = `{ by: cancel, tool: bank/cancel, arguments: { key: ${key} }, expect: [{ at: /structuredContent/cancelled, equals: true }], settleMs: 20 }`
const idempotentCancel = '      cancel: { effect: idempotent, risk: low }'

test('F02: paid and not answered, the payment is found by our key; a keyed payment that the bank never saw is known to be none at once', async (t) => {
  const site = makeSite(t, bankSite(`effect: keyed\n${quick}\nreconcile: [${status()}]`))
  const gateway = await openApproved(t, site)
  const paid = operationOf(await call(gateway, 'bank/pay', { ref: 'a', mode: 'silent' }))
  const lost = operationOf(await call(gateway, 'bank/pay', { ref: 'b', mode: 'lost' }))
  await until('the one is found', async () => (await stateOf(gateway, paid)) === 'reconciled_effect')
  // The bank drops repeats of a key: a no for the key is final, without waiting until the call can no longer run.
  await until('the other is none', async () => (await stateOf(gateway, lost)) === 'reconciled_none')
  assert.deepEqual(
    booked(site).map(({ ref }) => ref),
    ['a'],
  )
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('the same no of a tool that is `once` proves nothing while the call may still run', async (t) => {
  const site = makeSite(t, bankSite(`effect: once\n${quick}\nreconcile: [${status()}]`))
  const gateway = await openApproved(t, site)
  const lost = operationOf(await call(gateway, 'bank/pay', { ref: 'b', mode: 'lost' }))
  for (let n = 0; n < 4; n++) await gateway.control.reconcileOperation(lost, new AbortController().signal)
  assert.equal(await stateOf(gateway, lost), 'unknown')
})

test('taken back by its key, a payment that was on its way never happens, and the look-up after it is final', async (t) => {
  const site = makeSite(t, bankSite(`effect: once\n${quick}\nreconcile: [${cancel}, ${status()}]`, idempotentCancel))
  const gateway = await openApproved(t, site)
  const slow = operationOf(await call(gateway, 'bank/pay', { ref: 'a', mode: 'slow', ms: 4000 }))
  await until('it is none', async () => (await stateOf(gateway, slow)) === 'reconciled_none')
  await until('the bank has seen the cancel', () => booked(site, 'cancel').length === 1)
  const paid = operationOf(await call(gateway, 'bank/pay', { ref: 'b', mode: 'silent' }))
  await until('what was paid is found all the same', async () => (await stateOf(gateway, paid)) === 'reconciled_effect')
  assert.deepEqual(
    booked(site).map(({ ref }) => ref),
    ['b'],
  )
})

test('an index that lags never says no, and a listing says yes only of the one entry that fits', async (t) => {
  const listing = `{ by: listing, tool: bank/payments, arguments: { ref: { $argument: /ref } }, items: /structuredContent/payments, expect: [{ at: /ref, equals: { $argument: /ref } }], settleMs: 10, maxExecutionMs: 1, source: eventual }`
  const site = makeSite(t, bankSite(`effect: once\nrepeat: allow\n${quick}\nreconcile: [${listing}]`))
  const gateway = await openApproved(t, site)
  const lost = operationOf(await call(gateway, 'bank/pay', { ref: 'none', mode: 'lost' }))
  for (let n = 0; n < 4; n++) await gateway.control.reconcileOperation(lost, new AbortController().signal)
  assert.equal(await stateOf(gateway, lost), 'unknown')
  const one = operationOf(await call(gateway, 'bank/pay', { ref: 'one', mode: 'silent' }))
  await until('the one entry is it', async () => (await stateOf(gateway, one)) === 'reconciled_effect')
  await call(gateway, 'bank/pay', { ref: 'two' })
  const two = operationOf(await call(gateway, 'bank/pay', { ref: 'two', amount: 2, mode: 'silent' }))
  await gateway.control.reconcileOperation(two, new AbortController().signal)
  assert.equal(await stateOf(gateway, two), 'unknown', 'two entries fit, and nobody knows which')
})

test('T03: an answer that names another payment is no receipt: unknown, and found by our own key', async (t) => {
  const receipt = `receipt: { at: /structuredContent/id, conditions: [{ at: /structuredContent/key, equals: ${key} }] }`
  const site = makeSite(t, bankSite(`effect: once\n${receipt}\nreconcile: [${status()}]`))
  const gateway = await openApproved(t, site)
  const answer = await call(gateway, 'bank/pay', { ref: 'a', mode: 'other' })
  assert.equal(wordFor(answer), 'unknown')
  await until('found', async () => (await stateOf(gateway, operationOf(answer))) === 'reconciled_effect')
  assert.equal(booked(site).length, 1)
})

test('F06: a stored error that is replayed for ever makes no loop: one post, and the look-up decides', async (t) => {
  const site = makeSite(
    t,
    bankSite(`effect: keyed\nrepeat: allow\n${quick}\nreconcile: [${status()}]`, '', ', --dedupe, --stored-error'),
  )
  const gateway = await openApproved(t, site)
  const answer = await call(gateway, 'bank/pay', { ref: 'a', mode: 'broken' })
  assert.equal(wordFor(answer), 'answered:unknown')
  await gateway.control.reconcileOperation(operationOf(answer), new AbortController().signal)
  assert.equal(await stateOf(gateway, operationOf(answer)), 'reconciled_effect')
  assert.equal(booked(site).length, 1)
})

const undoing = (mode: string) => `
effect: once
receipt: { at: /structuredContent/id }
compensate: { tool: bank/refund, arguments: { receipt: { $operation: receipt }, mode: ${mode} } }`
const refund = (more = '') => `      refund:
        effect: once
        risk: low
        verify: { tool: bank/refunds, arguments: { receipt: { $argument: /receipt } }, expect: [{ at: /structuredContent/refunds/0/ref, equals: { $argument: /receipt } }], settleMs: 10 }
${more}`

test('an operation is undone by an operation of its own, and is compensated only when the world shows it', async (t) => {
  const site = makeSite(t, bankSite(undoing('ok'), refund()))
  const gateway = await openApproved(t, site)
  const operation = operationOf(await call(gateway, 'bank/pay', { ref: 'a' }))
  const undone = await gateway.control.compensateOperation(operation, new AbortController().signal)
  assert.ok(undone !== undefined && 'state' in undone, JSON.stringify(undone))
  assert.equal(undone.state, 'compensated')
  const child = (await gateway.control.operation(undone.compensatedBy!))!
  assert.deepEqual([child.reverses, child.acceptance, booked(site, 'refund').length], [operation, 'met', 1])
  const again = await gateway.control.compensateOperation(operation, new AbortController().signal)
  assert.ok(again !== undefined && 'code' in again && again.code === 'NOT_UNDOABLE')
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('F58: a refund without an answer is unknown, what it undoes stays compensating, and there is no second refund', async (t) => {
  const site = makeSite(
    t,
    bankSite(undoing('silent'), refund(`        softDeadlineMs: 200\n        hardDeadlineMs: 200\n`)),
  )
  const gateway = await openApproved(t, site)
  const operation = operationOf(await call(gateway, 'bank/pay', { ref: 'a' }))
  const undone = await gateway.control.compensateOperation(operation, new AbortController().signal)
  assert.ok(undone !== undefined && 'state' in undone && undone.state === 'compensating', JSON.stringify(undone))
  assert.equal(await stateOf(gateway, undone.compensatedBy!), 'unknown')
  const again = await gateway.control.compensateOperation(operation, new AbortController().signal)
  assert.ok(again !== undefined && 'code' in again)
  assert.equal(booked(site, 'refund').length, 1)
})

test('what is unknown is not undone', async (t) => {
  const site = makeSite(t, bankSite(`${undoing('ok')}\n${quick}`, refund()))
  const gateway = await openApproved(t, site)
  const operation = operationOf(await call(gateway, 'bank/pay', { ref: 'a', mode: 'silent' }))
  const undone = await gateway.control.compensateOperation(operation, new AbortController().signal)
  assert.ok(undone !== undefined && 'code' in undone && undone.code === 'NOT_UNDOABLE')
  assert.equal(booked(site, 'refund').length, 0)
})

test('a read-back that is bound to nothing of the call is an error of the configuration', (t) => {
  void byRef
  const site = makeSite(
    t,
    bankSite(`effect: once\nreconcile: { tool: bank/payments, arguments: {}, expect: [{ at: /x, exists: true }] }`),
  )
  return assert.rejects(() => openApproved(t, site), /bound to the call/)
})
