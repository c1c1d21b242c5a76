import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../config/load.ts'
import { loosenings } from './loosening.ts'

const rule = (name: string, decision: string): string => `{ name: ${name}, decision: ${decision} }`
const read = (text: string) => parseConfig('/srv/countersign.yaml', text, {})
const found = (before: string, after: string, policies = { before: 'p', after: 'p' }) =>
  loosenings(read(before), read(after), policies)

const server = (profile: string): string => `servers: { s: { command: x, tools: { t: ${profile} } } }`

test('what may let more through than before is named, and what only tightens is not', () => {
  const asks = `consent: { rules: [${rule('a', 'ask')}] }`
  assert.deepEqual(found(asks, asks), [])
  assert.deepEqual(found(asks, asks, { before: 'p', after: 'q' }), ['policy'])
  assert.deepEqual(found(asks, `consent: { rules: [${rule('n', 'deny')}, ${rule('a', 'ask')}] }`), [])
  assert.deepEqual(found(asks, `consent: { rules: [${rule('a', 'ask')}, ${rule('n', 'allow')}] }`), ['consent.rules'])
  // An `ask` in front of a `deny` takes something away from it.
  assert.deepEqual(
    found(
      `consent: { rules: [${rule('d', 'deny')}] }`,
      `consent: { rules: [${rule('n', 'ask')}, ${rule('d', 'deny')}] }`,
    ),
    ['consent.rules'],
  )
  assert.deepEqual(found(asks, ''), ['consent.rules'])
  const budget = (calls: number): string => `budgets: [{ name: b, per: all, window: 1h, calls: ${calls} }]`
  assert.deepEqual(found(budget(3), budget(2)), [])
  assert.deepEqual(found(budget(3), budget(4)), ['budgets.b'])
  assert.deepEqual(found(budget(3), ''), ['budgets.b'])
  assert.deepEqual(found(server('{ effect: once }'), server('{ effect: read }')), ['servers.s.tools.t'])
  assert.deepEqual(found(server('{ effect: read, risk: low }'), server('{ effect: once, risk: low }')), [])
  assert.deepEqual(found('', server('{ effect: read }')), [])
})
