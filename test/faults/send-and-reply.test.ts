import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSite } from '../fixtures/site.ts'
import { call, openApproved, operationOf, stateOf, tokenOf, until, wordFor } from '../hostile/attack.ts'
import { callTool } from '../hostile/client.ts'
import { bankSite, booked, byRef } from './bank.ts'

const quick = 'softDeadlineMs: 200\nhardDeadlineMs: 200'

test('F15: told at the soft deadline that nobody knows yet, and succeeded when the answer comes, without a look-up', async (t) => {
  const site = makeSite(t, bankSite(`effect: once\nsoftDeadlineMs: 150\nreconcile: ${byRef('settleMs: 10')}`))
  const gateway = await openApproved(t, site)
  const answer = await call(gateway, 'bank/pay', { ref: 'a', mode: 'late', ms: 600 })
  assert.equal(wordFor(answer), 'unknown')
  const operation = operationOf(answer)
  assert.equal(await stateOf(gateway, operation), 'dispatched')
  // The client waits, and does not call again: what it gets is the result of the call.
  const waited = await callTool(gateway, tokenOf(site), 'countersign__operation_wait', { operation, seconds: 30 })
  assert.match(waited.text, /"ref":"a"/)
  assert.equal(await stateOf(gateway, operation), 'succeeded')
  assert.equal(booked(site).length, 1)
  const reads = await gateway.control.operations({ limit: 50 })
  assert.deepEqual(
    reads.filter(({ effect }) => effect === 'read'),
    [],
  )
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('F16: an answer after the hard deadline is evidence for the operation that was unknown by then', async (t) => {
  const site = makeSite(t, bankSite('effect: once\nsoftDeadlineMs: 300\nhardDeadlineMs: 600'))
  const gateway = await openApproved(t, site)
  const answer = await call(gateway, 'bank/pay', { ref: 'a', mode: 'late', ms: 900 })
  const operation = operationOf(answer)
  await until('it is unknown', async () => (await stateOf(gateway, operation)) === 'unknown')
  await until('it is found', async () => (await stateOf(gateway, operation)) === 'reconciled_effect')
  const detail = (await gateway.control.operation(operation))!
  assert.match(detail.result ?? '', /"ref":"a"/)
  assert.equal(booked(site).length, 1)
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('F03: proved to have had no effect, the same call is the next attempt of the same operation, under the same upstream key', async (t) => {
  const pay = `effect: once\n${quick}\nreconcile: ${byRef('settleMs: 20, maxExecutionMs: 300')}`
  const site = makeSite(t, bankSite(pay))
  const gateway = await openApproved(t, site)
  const first = await call(gateway, 'bank/pay', { ref: 'a', mode: 'lost' })
  const operation = operationOf(first)
  assert.equal(wordFor(await call(gateway, 'bank/pay', { ref: 'a', mode: 'lost' })), 'OUTCOME_UNKNOWN')
  await until(
    'it is known to be nothing',
    async () => (await stateOf(gateway, operation)) === 'reconciled_none',
    20_000,
  )
  const second = await call(gateway, 'bank/pay', { ref: 'a', mode: 'lost' })
  assert.equal(operationOf(second), operation)
  const seen = booked(site, 'saw')
  assert.equal(seen.length, 2)
  assert.equal(seen[0]!.key, seen[1]!.key)
  const detail = (await gateway.control.operation(operation))!
  assert.deepEqual(
    detail.attemptRows.map(({ n, sent, outcome, errorKind }) => [n, sent, outcome, errorKind]),
    [
      [1, 'maybe', 'none', 'E6'],
      [2, 'maybe', 'unknown', 'E6'],
    ],
  )
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('T01: a success without the receipt that the profile demands is unknown, found to be nothing, and then done once', async (t) => {
  const receipt = 'receipt: { at: /structuredContent/id, conditions: [{ at: /structuredContent/id, exists: true }] }'
  const pay = `effect: once\n${quick}\n${receipt}\nreconcile: ${byRef('settleMs: 20, maxExecutionMs: 100')}`
  const site = makeSite(t, bankSite(pay))
  const gateway = await openApproved(t, site)
  const operation = operationOf(await call(gateway, 'bank/pay', { ref: 'a', mode: 'empty' }))
  await until(
    'it is known to be nothing',
    async () => (await stateOf(gateway, operation)) === 'reconciled_none',
    20_000,
  )
  const paid = await call(gateway, 'bank/pay', { ref: 'b' })
  assert.equal(wordFor(paid), 'answered:succeeded')
  const detail = (await gateway.control.operation(operationOf(paid)))!
  assert.equal(detail.record.externalReceipt, booked(site)[0]!.id)
})

test('T08: a key that the model made is dropped, ours is sent in its place, and a repeat is a repeat', async (t) => {
  const pay = 'effect: keyed\nupstreamKey: { in: argument, name: idempotency_key }'
  const site = makeSite(t, bankSite(pay, '', ', --dedupe'))
  const gateway = await openApproved(t, site)
  const first = await call(gateway, 'bank/pay', { ref: 'a', idempotency_key: 'made-by-a-model-1' })
  assert.equal(wordFor(first), 'answered:succeeded')
  const detail = (await gateway.control.operation(operationOf(first)))!
  assert.equal(booked(site)[0]!.key, detail.upstreamKey)
  assert.ok(!detail.arguments!.includes('made-by-a-model'))
  // Another key of the model's does not make it another payment: it is the same call, and it asks.
  const again = await call(
    gateway,
    'bank/pay',
    { ref: 'a', idempotency_key: 'made-by-a-model-2' },
    { signal: AbortSignal.timeout(500) },
  )
  assert.ok(again.kind === 'refused' && again.code !== 'ARGUMENTS_INVALID', wordFor(again))
  assert.equal(booked(site).length, 1)
})

for (const trusted of [true, false])
  test(`F13: a refusal of the protocol ${trusted ? 'means "no effect" where the server is trusted to say so' : 'says nothing of the effect otherwise'}`, async (t) => {
    const site = makeSite(t, bankSite(`effect: once\nrepeat: allow\n${trusted ? 'trustRefusals: true' : ''}`))
    const gateway = await openApproved(t, site)
    const answer = await call(gateway, 'bank/pay', { ref: 'a', mode: 'unknown-method' })
    assert.equal(wordFor(answer), trusted ? 'error:failed' : 'error:unknown')
    const detail = (await gateway.control.operation(operationOf(answer)))!
    assert.deepEqual([detail.errorKind, detail.attemptRows.length], [trusted ? 'E2' : 'E5', 1])
    assert.equal(booked(site).length, 0)
  })

test('the record of a call is one row: who, what, by whose leave, under which keys, with which end', async (t) => {
  const site = makeSite(
    t,
    bankSite(
      'effect: once\nreceipt: { at: /structuredContent/id }\nscopes: [{ kind: record, from: /ref, access: write }]',
    ),
  )
  const gateway = await openApproved(t, site)
  const answer = await call(gateway, 'bank/pay', { ref: 'a' }, { requestKey: 'key-of-the-caller-1' })
  const { record } = (await gateway.control.operation(operationOf(answer)))!
  assert.deepEqual(
    [record.actor, record.tenant, record.tool, record.verdicts],
    ['local', 'local', 'bank/pay', { allowed: true, happened: 'succeeded', done: 'not_required' }],
  )
  assert.match(record.argumentsDigest, /^[0-9a-f]{64}$/)
  assert.deepEqual(record.resourceScope, [{ kind: 'record', value: 'a', access: 'write' }])
  assert.equal(record.approvalProof['rule'], 'all pass')
  assert.equal(record.idempotencyKey.caller, 'key-of-the-caller-1')
  assert.equal(record.idempotencyKey.upstream, booked(site)[0]!.key)
  assert.equal(record.externalReceipt, booked(site)[0]!.id)
  assert.match(record.result!.digest, /^[0-9a-f]{64}$/)
})

test('a server that leaves calls unanswered gets no new ones for a while, and what is open stays unknown', async (t) => {
  const site = makeSite(
    t,
    (it) => `limits: { unansweredCalls: 2, unansweredPause: 1h }\n${bankSite(`effect: once\n${quick}`)(it)}`,
  )
  const gateway = await openApproved(t, site)
  const open = [operationOf(await call(gateway, 'bank/pay', { ref: 'a', mode: 'silent' }))]
  open.push(operationOf(await call(gateway, 'bank/pay', { ref: 'b', mode: 'silent' })))
  assert.equal(wordFor(await call(gateway, 'bank/pay', { ref: 'c' })), 'UPSTREAM_TRIPPED')
  assert.deepEqual(await Promise.all(open.map((operation) => stateOf(gateway, operation))), ['unknown', 'unknown'])
  assert.deepEqual(
    booked(site).map(({ ref }) => ref),
    ['a', 'b'],
  )
})
