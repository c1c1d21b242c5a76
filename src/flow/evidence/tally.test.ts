import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Step } from '../line.ts'
import { Tallying } from './tally.ts'

const facts: Readonly<Record<string, Step['facts']>> = {
  tool: { pin: 'p', version: '1' },
  resource: { scopesDigest: 's', policyVersion: 'v' },
  consent: { rule: 'r' },
}
const passed = (...steps: readonly string[]): Step[] =>
  steps.map((step) => ({ step: step as Step['step'], verdict: 'pass', facts: facts[step] ?? {}, micros: 1_000 }))
const gates = passed('proposal', 'principal', 'tool', 'resource', 'consent', 'budget', 'action')
const about = { tenant: 't', principal: 'p', tool: 's/t', trace: '0', commitments: { arguments: 'a' } }

function tallied(...records: readonly object[]) {
  const tallying = new Tallying()
  for (const [seq, record] of records.entries()) tallying.take(JSON.stringify({ seq, at: seq, ...about, ...record }))
  return tallying.finish()
}
const sent = (more: object = {}) => ({
  kind: 'op.dispatched',
  operation: 'o',
  path: ['dispatched'],
  steps: gates,
  ...more,
})
const ended = (state: string) => ({
  kind: 'op.outcome',
  operation: 'o',
  path: [state],
  steps: passed('side-effect', 'receipt'),
})

test('a call that went by every gate and ended is counted, with nothing to blame', () => {
  const tally = tallied(sent(), ended('succeeded'), { kind: 'op.result', operation: 'o', acceptance: 'met' })
  assert.deepEqual(tally.calls, { reads: 0, effects: 1, attempts: 1 })
  assert.deepEqual([tally.ends, tally.acceptance, tally.open], [{ succeeded: 1 }, { met: 1 }, 0])
  assert.deepEqual([tally.sentAgain, tally.ungated, tally.whole, tally.lacking], [[], [], 1, {}])
  assert.deepEqual([tally.upstreamMicros.p50, tally.ownMicros.p50], [1_000, 1_000])
})

test('an operation that is sent again while it may have run is named; after a proof that nothing left it is not', () => {
  assert.deepEqual(tallied(sent(), sent({ attempt: 2 })).sentAgain, ['o'])
  assert.deepEqual(tallied(sent(), ended('unknown'), sent({ attempt: 2 })).sentAgain, ['o'])
  assert.deepEqual(tallied(sent(), { kind: 'op.not_sent', operation: 'o' }, sent({ attempt: 2 })).sentAgain, [])
  const none = { kind: 'op.reconciled', operation: 'o', path: ['unknown', 'reconciled_none'] }
  assert.deepEqual(tallied(sent(), none, sent({ attempt: 2 })).sentAgain, [])
})

test('a call without the pass of one gate, or without what a reader needs, is named', () => {
  for (const gate of ['principal', 'tool', 'resource', 'consent', 'budget', 'action']) {
    const tally = tallied(sent({ steps: gates.filter(({ step }) => step !== gate) }))
    assert.deepEqual(tally.ungated, ['o'], gate)
  }
  assert.deepEqual(tallied(sent({ trace: undefined })).lacking, { 'trace id': 1 })
})

test('what nobody knows stays open until it is found out or decided', () => {
  assert.equal(tallied(sent(), ended('unknown')).open, 1)
  const found = { kind: 'op.reconciled', operation: 'o', path: ['unknown', 'reconciled_effect'] }
  const tally = tallied(sent(), ended('unknown'), found)
  assert.deepEqual([tally.open, tally.reconciled], [0, 1])
})

test('refusals are counted by code, and approvals by who gave them', () => {
  const refusal = {
    kind: 'proposal.refused',
    steps: [{ step: 'tool', verdict: 'refuse', code: 'TOOL_UNKNOWN', facts: {}, micros: 1 }],
  }
  const granted = (by: string) => ({ kind: 'approval.granted', facts: { by } })
  const tally = tallied(refusal, refusal, { kind: 'approval.asked' }, granted('p'), granted('other'))
  assert.deepEqual([tally.proposals, tally.refused], [2, { TOOL_UNKNOWN: 2 }])
  assert.deepEqual([tally.approvals.granted, tally.approvals.byThemselves], [2, 1])
})
