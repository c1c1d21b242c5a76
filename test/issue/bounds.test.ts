import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LedgerFault } from '../../src/flow/side-effect/ledger.ts'
import { textMember } from '../../src/words/json.ts'
import { approveOffered, fixture, makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, operationOf, start, wordFor } from '../hostile/attack.ts'

const yaml =
  (more = '') =>
  ({ effects, folder }: Site): string =>
    `
roots: { everything: ${folder} }
servers:
  a:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools:
      slow: { effect: read, risk: low }
      read_note: { effect: read, risk: low, scopes: [{ kind: path, from: /name, access: read, base: everything }] }
      write_note: { effect: once, risk: low }
consent: { rules: [{ name: all pass, decision: allow }] }
${more}
`

test('no tool reads the home, the configuration, the policies or the lock file, though they lie in a granted folder', async (t) => {
  const site = makeSite(t, yaml())
  const gateway = await openApproved(t, site)
  writeFileSync(join(site.folder, 'plain.txt'), '')
  assert.equal(wordFor(await call(gateway, 'a/read_note', { name: join(site.folder, 'plain.txt') })), 'answered:failed')
  for (const own of ['.countersign/token', '.countersign/ledger.db', 'countersign.yaml', 'policy/all.cedar'])
    assert.equal(wordFor(await call(gateway, 'a/read_note', { name: join(site.folder, own) })), 'SCOPE_OUTSIDE', own)
})

test('F01: what provably cannot leave is tried three times and no more, and each attempt and each proof is on record', async (t) => {
  const site = makeSite(t, yaml())
  const gateway = await openApproved(t, site)
  const leave = new AbortController()
  // As many requests as one server may have under way.
  const held = Array.from({ length: 256 }, (_, n) =>
    call(gateway, 'a/slow', { ms: 20_000 + n }, { signal: leave.signal }),
  )
  const answer = await call(gateway, 'a/write_note', { name: 'one', text: '' })
  assert.equal(wordFor(answer), 'NOT_SENT')
  const operation = operationOf(answer)
  const kinds = (await gateway.control.evidence({ operation, limit: 50 })).map((record) => textMember(record, 'kind'))
  const [tried, proved] = ['op.dispatched', 'op.not_sent']
  assert.deepEqual(kinds, [tried, proved, tried, proved, tried, proved, 'op.expired'])
  leave.abort()
  await Promise.all(held)
  assert.equal(wordFor(await call(gateway, 'a/write_note', { name: 'one', text: '' })), 'answered:succeeded')
  assert.deepEqual(effectsIn(site.effects), ['one'])
})

test('the queue of the ledger is bounded: who comes when it is full is told so, and the next one is served', async (t) => {
  const gateway = await openApproved(t, makeSite(t, yaml()))
  const { ledger } = gateway.core.open
  const refusal = { proposal: 'prp_x', steps: [] }
  const written = await Promise.allSettled(Array.from({ length: 1100 }, () => ledger.refused(refusal)))
  const busy = written.filter((it) => it.status === 'rejected')
  assert.ok(busy.length > 0 && busy.length < 1100)
  for (const { reason } of busy) assert.ok(reason instanceof LedgerFault && reason.code === 'LEDGER_BUSY')
  await ledger.refused(refusal)
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('what was spent is remembered over a restart', async (t) => {
  const site = makeSite(t, yaml('budgets: [{ name: two a day, window: 24h, calls: 2, per: principal }]'))
  const first = await start(t, site)
  await approveOffered(first.gateway)
  for (const name of ['one', 'two'])
    assert.equal(wordFor(await call(first.gateway, 'a/write_note', { name, text: '' })), 'answered:succeeded')
  assert.equal(wordFor(await call(first.gateway, 'a/write_note', { name: 'three', text: '' })), 'BUDGET_SPENT')
  await first.stop()
  const second = await start(t, site)
  assert.equal(wordFor(await call(second.gateway, 'a/write_note', { name: 'three', text: '' })), 'BUDGET_SPENT')
  assert.deepEqual(effectsIn(site.effects), ['one', 'two'])
})
