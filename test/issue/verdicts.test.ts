import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, operationOf, wordFor } from '../hostile/attack.ts'

const wild = join(import.meta.dirname, '..', 'hostile', 'servers', 'wild.ts')
const flattering = join(import.meta.dirname, 'servers', 'flattering.ts')

// `say` and `typed` note one effect and answer with the very result that they are given.
const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      paid: { effect: read, risk: low }
      typed: { effect: once, risk: low }
      say:
        effect: once
        risk: low
        definiteFailure: [{ at: /content/0/text, equals: insufficient funds }]
        verify:
          tool: a/paid
          arguments: { key: { $argument: /result/about } }
          expect: [{ at: /content/0/text, equals: 'yes' }]
          settleMs: 1
          tries: 2
  f:
    command: node
    args: [${flattering}, --effects, ${effects}]
consent:
  wait: 50ms
  rules:
    - { name: a passes, tool: a/*, decision: allow }
`

async function open(t: TestContext): Promise<{ gateway: RunningGateway; site: Site }> {
  const site = makeSite(t, yaml)
  return { site, gateway: await openApproved(t, site) }
}

const words = (text: string, more: object = {}): object => ({ content: [{ type: 'text', text }], ...more })
const saying = (result: object): { result: never } => ({ result: result as never })

test('F07: an error that the profile does not know leaves the outcome unknown, is relayed as it is, and its repeat is asked', async (t) => {
  const { gateway, site } = await open(t)
  const given = saying(words('internal error', { isError: true }))
  const answer = await call(gateway, 'a/say', given)
  assert.ok(answer.kind === 'answered')
  assert.equal(answer.state, 'unknown')
  assert.equal(answer.accepted.isError, true)
  assert.match(Buffer.from(answer.accepted.bytes).toString(), /internal error/)
  const row = await gateway.control.operation(operationOf(answer))
  assert.deepEqual([row?.state, row?.standing], ['unknown', 'answered'])
  assert.equal(wordFor(await call(gateway, 'a/say', given)), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), ['say'])
})

test('F08: an error that the profile knows to mean "no effect" is failed, and the same call runs again without a question', async (t) => {
  const { gateway, site } = await open(t)
  const given = saying(words('insufficient funds', { isError: true }))
  assert.equal(wordFor(await call(gateway, 'a/say', given)), 'answered:failed')
  assert.equal(wordFor(await call(gateway, 'a/say', given)), 'answered:failed')
  assert.deepEqual(effectsIn(site.effects), ['say', 'say'])
})

test('F09: a result that breaks its output schema is held back after it was recorded: succeeded, one effect, and the refusal says so', async (t) => {
  const { gateway, site } = await open(t)
  const given = saying(words('done', { structuredContent: { total: 'many' } }))
  const answer = await call(gateway, 'a/typed', given)
  assert.ok(answer.kind === 'refused')
  assert.equal(answer.code, 'RESULT_SCHEMA_MISMATCH')
  assert.equal(answer.facts['outcome'], 'succeeded')
  const row = await gateway.control.operation(operationOf(answer))
  assert.equal(row?.state, 'succeeded')
  assert.ok(row.resultBytes > 0)
  assert.equal(wordFor(await call(gateway, 'a/typed', given)), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), ['typed'])
})

test('F54: the tool says success and the world shows nothing: succeeded and not met, both on record, and nothing is sent again', async (t) => {
  const { gateway, site } = await open(t)
  const answer = await call(gateway, 'a/say', saying(words('paid', { about: 'never noted' })))
  assert.ok(answer.kind === 'answered')
  assert.deepEqual([answer.state, answer.acceptance], ['succeeded', 'not_met'])
  assert.deepEqual(effectsIn(site.effects), ['say'])
  const records = await gateway.control.evidence({ operation: answer.operation, limit: 20 })
  assert.equal(records.at(-1)?.['acceptance'], 'not_met')
  assert.equal((await gateway.control.operation(answer.operation))?.acceptance, 'not_met')
})

test('F54: the world shows the effect: met', async (t) => {
  const { gateway } = await open(t)
  // `say` notes its own name.
  const answer = await call(gateway, 'a/say', saying(words('paid', { about: 'say' })))
  assert.ok(answer.kind === 'answered')
  assert.deepEqual([answer.state, answer.acceptance], ['succeeded', 'met'])
})

test('F55: a tool that calls itself read-only and idempotent is once all the same: it asks, and nothing runs without a yes', async (t) => {
  const { gateway, site } = await open(t)
  const answer = await call(gateway, 'f/wipe', { what: 'all' })
  assert.ok(answer.kind === 'refused' && answer.approval !== undefined)
  assert.equal(answer.code, 'APPROVAL_WAITING')
  assert.match((await gateway.control.approval(answer.approval))!.text, /effect: once \(nothing declared/)
  assert.deepEqual(effectsIn(site.effects), [])
})
