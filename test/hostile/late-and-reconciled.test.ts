import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSite, fixture } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, operationOf, stateOf, until, wordFor } from './attack.ts'

const allPass = 'consent: { rules: [{ name: all pass, decision: allow }] }'
const soft = 200

function honest(more = ''): (site: { effects: string }) => string {
  return ({ effects }) => `
servers:
  a:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools: { slow: { effect: once, risk: low, softDeadlineMs: ${soft} ${more} } }
${allPass}
`
}

test('an answer after the soft deadline is the outcome, and until then the same call is blocked', async (t) => {
  const gateway = await openApproved(t, makeSite(t, honest()))
  const answer = await call(gateway, 'a/slow', { ms: 600 })
  assert.equal(wordFor(answer), 'unknown')
  assert.equal(wordFor(await call(gateway, 'a/slow', { ms: 600 })), 'IN_PROGRESS')
  await until('the late answer counts', async () => (await stateOf(gateway, operationOf(answer))) === 'succeeded')
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('an answer that lies in the pipe when the soft deadline fires is not lost', async (t) => {
  // The event loop is held until the deadline is over: the clock speaks first, and the answer comes in the same turn.
  const hold = (): void => {
    for (const end = performance.now() + soft + 150; performance.now() < end;);
  }
  const site = makeSite(t, honest())
  let holding = false
  const gateway = await openApproved(t, site, { at: (point) => void (holding && point === 'sent' && hold()) })
  holding = true
  const answer = await call(gateway, 'a/slow', { ms: 20 })
  holding = false
  if (answer.kind === 'unknown')
    await until('the answer counts', async () => (await stateOf(gateway, operationOf(answer))) === 'succeeded', 2000)
  else assert.equal(wordFor(answer), 'answered:succeeded')
})

const wild = join(import.meta.dirname, 'servers', 'wild.ts')
function paying(readBack: string): (site: { effects: string }) => string {
  return ({ effects }) => `
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      paid: { effect: read, risk: low }
      pay:
        effect: once
        risk: low
        repeat: allow
        softDeadlineMs: ${soft}
        hardDeadlineMs: ${soft}
        reconcile:
          tool: a/paid
          arguments: { key: { $argument: /key } }
          expect: [{ at: /content/0/text, equals: 'yes' }]
          ${readBack}
${allPass}
`
}

test('a read-back that finds the effect ends the unknown, and the same call runs as a repeat and not as a first one', async (t) => {
  const site = makeSite(t, paying('settleMs: 20'))
  const gateway = await openApproved(t, site)
  const answer = await call(gateway, 'a/pay', { key: 'k1', mode: 'silent' })
  assert.equal(wordFor(answer), 'unknown')
  await until('it is found', async () => (await stateOf(gateway, operationOf(answer))) === 'reconciled_effect')
  assert.deepEqual(effectsIn(site.effects), ['k1'])
})

test('a read-back that finds nothing proves nothing before the call can no longer run, and then needs two noes', async (t) => {
  const site = makeSite(t, paying('settleMs: 20, maxExecutionMs: 2500'.replace(', ', '\n          ')))
  const gateway = await openApproved(t, site)
  const began = Date.now()
  const answer = await call(gateway, 'a/pay', { key: 'k1', mode: 'lost' })
  assert.equal(wordFor(answer), 'unknown')
  const operation = operationOf(answer)
  // Looking by hand as often as one likes does not make it a no.
  for (let n = 0; n < 5; n++) {
    await gateway.control.reconcileOperation(operation, new AbortController().signal)
    assert.equal(await stateOf(gateway, operation), 'unknown')
  }
  assert.ok(Date.now() - began < 2500)
  assert.equal(wordFor(await call(gateway, 'a/pay', { key: 'k1', mode: 'lost' })), 'OUTCOME_UNKNOWN')
  await until('it is a no', async () => {
    await gateway.control.reconcileOperation(operation, new AbortController().signal)
    return (await stateOf(gateway, operation)) === 'reconciled_none'
  })
  assert.ok(Date.now() - began >= 2500)
  assert.deepEqual(effectsIn(site.effects), [])
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('a person says that there was an effect, or that there was none; nobody can say it twice', async (t) => {
  const site = makeSite(t, honest(`, repeat: allow, hardDeadlineMs: ${soft}`))
  const gateway = await openApproved(t, site)
  const answer = await call(gateway, 'a/slow', { ms: 100_000 })
  const operation = operationOf(answer)
  const decided = await gateway.control.decideOperation(operation, { decision: 'none', why: 'looked' })
  assert.ok(decided !== undefined && 'state' in decided)
  const again = await gateway.control.decideOperation(operation, { decision: 'effect', why: 'looked again' })
  assert.ok(again !== undefined && 'code' in again)
  assert.equal(await stateOf(gateway, operation), 'reconciled_none')
})
