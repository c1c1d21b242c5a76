import assert from 'node:assert/strict'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import type { Point } from '../../src/flow/index.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, wordFor } from '../hostile/attack.ts'

const yaml = ({ effects, folder }: Site): string => `
roots: { all: ${join(folder, 'granted')} }
servers:
  a:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools:
      echo: { effect: read, risk: low }
      read_note: { effect: read, risk: low, scopes: [{ kind: path, from: /name, access: read, base: all }] }
      write_note: { effect: once, risk: low }
consent: { rules: [{ name: all pass, decision: allow }] }
`
const note = { name: 'one', text: '' }

test('an intent and an outcome are committed with a sync, the one before the sending and the other before the answer', async (t) => {
  let synchronous = 'FULL'
  let commits: string[] = []
  // oxlint-disable-next-line typescript/unbound-method
  const { synchronise, run } = Database.prototype
  const set = mock.method(Database.prototype, 'synchronise', function (this: Database, full: boolean) {
    synchronise.call(this, full)
    synchronous = full ? 'FULL' : 'NORMAL'
  })
  const ran = mock.method(Database.prototype, 'run', function (this: Database, sql: Parameters<typeof run>[0]) {
    run.call(this, sql)
    if (sql === 'COMMIT') commits.push(synchronous)
  })
  t.after(() => {
    set.mock.restore()
    ran.mock.restore()
  })
  const at: Partial<Record<Point, string[]>> = {}
  const gateway = await openApproved(t, makeSite(t, yaml), { at: (point) => void (at[point] = commits) })
  const countFrom = (): string[] => (commits = [])
  // A read is committed by the weaker setting, but where it shares a commit with something that is synced.
  const reads = countFrom()
  for (let n = 0; n < 20 && !reads.includes('NORMAL'); n++)
    assert.equal(wordFor(await call(gateway, 'a/echo', { text: 'x' })), 'answered:succeeded')
  assert.ok(reads.includes('NORMAL'))
  const before = countFrom()
  const answering = call(gateway, 'a/write_note', note)
  assert.equal(wordFor(await answering), 'answered:succeeded')
  assert.equal(at['intent-recorded'], before)
  // Intent and raw outcome, at least, are of the strong kind and come first.
  assert.deepEqual(before.slice(0, 2), ['FULL', 'FULL'])
})

test('a read is on record when it is answered', async (t) => {
  const gateway = await openApproved(t, makeSite(t, yaml))
  const answer = await call(gateway, 'a/echo', { text: 'x' })
  assert.ok(answer.kind === 'answered')
  const lines = gateway.core.open.records({ operation: answer.operation, limit: 5 })
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /"kind":"op\.read"/)
})

test('a refusal is on record with its step and its code', async (t) => {
  const gateway = await openApproved(t, makeSite(t, yaml))
  const size = gateway.core.open.size()
  assert.equal(wordFor(await call(gateway, 'a/read_note', { name: '/etc/passwd' })), 'SCOPE_OUTSIDE')
  // Any number of others may come between: approvals, and what was agreed on with the servers.
  const [line] = gateway.core.open.records({ from: size, limit: 1_000 }).filter((it) => it.includes('proposal.refused'))
  const { principal, tool, steps } = JSON.parse(line!) as {
    principal: string
    tool: string
    steps: { step: string; code?: string }[]
  }
  assert.deepEqual([principal, tool], ['local', 'a/read_note'])
  assert.deepEqual([steps.at(-1)?.step, steps.at(-1)?.code], ['resource', 'SCOPE_OUTSIDE'])
})

test('F56: a tool that is taken back between the judgement and the intent is not called', async (t) => {
  const site = makeSite(t, yaml)
  let armed = false
  const gateway = await openApproved(t, site, {
    at: (point) => {
      if (armed && point === 'judged') gateway.core.catalogue.quarantine(['a/write_note'], 'local', Date.now())
    },
  })
  armed = true
  assert.equal(wordFor(await call(gateway, 'a/write_note', note)), 'AUTHORISATION_STALE')
  assert.deepEqual(effectsIn(site.effects), [])
  assert.equal((await gateway.control.operations({ limit: 1 })).length, 0)
})
