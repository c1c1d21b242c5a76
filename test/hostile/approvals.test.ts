import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import type { JsonObject } from '../../src/words/json.ts'
import { approveOffered, makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, start, until, wordFor } from './attack.ts'

const wild = join(import.meta.dirname, 'servers', 'wild.ts')
function yaml(rule: string): (site: Site) => string {
  return ({ effects, folder }) => `
roots: { all: ${folder} }
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      pay: { effect: once, risk: high }
      read_it: { effect: once, risk: low, scopes: [{ kind: path, from: /path, access: read, base: all }] }
consent:
  wait: 300ms
  rules: [{ name: a person says so, decision: ask, ${rule} }]
`
}
const byCli = 'channels: [cli], selfApproval: true, expires: 1m'

async function open(t: TestContext, rule = byCli): Promise<{ gateway: RunningGateway; site: Site }> {
  const site = makeSite(t, yaml(rule))
  return { site, gateway: await openApproved(t, site) }
}

async function waiting(gateway: RunningGateway, how: number): Promise<string> {
  let found: readonly { id: string }[] = []
  await until(`${how} question(s) wait`, async () => {
    found = await gateway.control.approvals({ state: 'waiting', limit: 100 })
    return found.length >= how
  })
  assert.equal(found.length, how)
  return found[0]!.id
}
const yes = { decision: 'granted', channel: 'cli', why: '' } as const
const no = { decision: 'denied', channel: 'cli', why: 'not now' } as const

test('twenty identical calls at once that all need a yes: one question, and at most one effect', async (t) => {
  const site = makeSite(t, (it) => yaml(byCli)(it).replace('300ms', '20s'))
  const gateway = await openApproved(t, site)
  const calls = Array.from({ length: 20 }, () => call(gateway, 'a/pay', { key: 'k', mode: 'ok' }))
  await gateway.control.decideApproval(await waiting(gateway, 1), yes)
  // Whoever comes too late must not be left waiting for a second question that nobody was told of.
  const first = await Promise.race(calls)
  assert.ok(first !== undefined)
  const rest = await Promise.race([Promise.all(calls), new Promise((resolve) => setTimeout(resolve, 2000, undefined))])
  assert.deepEqual(effectsIn(site.effects), ['k'])
  assert.ok(rest !== undefined, 'some still wait')
  assert.equal((rest as (typeof first)[]).filter((answer) => answer.kind === 'answered').length, 1)
})

test('a yes that comes after the caller left runs nothing by itself; the same call, repeated, runs once', async (t) => {
  const { gateway, site } = await open(t)
  const given = { key: 'k', mode: 'ok' }
  assert.equal(wordFor(await call(gateway, 'a/pay', given)), 'APPROVAL_WAITING')
  await gateway.control.decideApproval(await waiting(gateway, 1), yes)
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.deepEqual(effectsIn(site.effects), [])
  const both = await Promise.all([call(gateway, 'a/pay', given), call(gateway, 'a/pay', given)])
  assert.deepEqual(effectsIn(site.effects), ['k'])
  assert.equal(both.filter(({ kind }) => kind === 'answered').length, 1)
  // Used up: the next one is a repeat, and asks again.
  assert.equal(wordFor(await call(gateway, 'a/pay', given)), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), ['k'])
})

test('a caller that leaves while a person thinks takes its call along', async (t) => {
  const site = makeSite(t, (it) => yaml(byCli)(it).replace('300ms', '20s'))
  const gateway = await openApproved(t, site)
  const leave = new AbortController()
  const left = call(gateway, 'a/pay', { key: 'k', mode: 'ok' }, { signal: leave.signal })
  const id = await waiting(gateway, 1)
  leave.abort()
  assert.equal(wordFor(await left), 'CALLER_LEFT')
  await gateway.control.decideApproval(id, yes)
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.deepEqual(effectsIn(site.effects), [])
})

test('a yes is for these arguments: one other character, or one more member, asks anew', async (t) => {
  const { gateway, site } = await open(t)
  await call(gateway, 'a/pay', { key: 'k', mode: 'ok' })
  await gateway.control.decideApproval(await waiting(gateway, 1), yes)
  for (const given of [
    { key: 'K', mode: 'ok' },
    { key: 'k ', mode: 'ok' },
    { key: 'k' },
    { key: 'k', mode: 'ok', more: 1 },
  ])
    assert.equal(wordFor(await call(gateway, 'a/pay', given)), 'APPROVAL_WAITING', JSON.stringify(given))
  assert.deepEqual(effectsIn(site.effects), [])
})

test('a yes under one policy is none under another, and is good again when the first one is back', async (t) => {
  const site = makeSite(t, yaml(byCli))
  const first = await start(t, site)
  await approveOffered(first.gateway)
  const given = { key: 'k', mode: 'ok' }
  await call(first.gateway, 'a/pay', given)
  await first.gateway.control.decideApproval(await waiting(first.gateway, 1), yes)
  await first.stop()
  const policy = join(site.folder, 'policy', 'all.cedar')
  const before = readFileSync(policy, 'utf8')
  writeFileSync(policy, `${before}\nforbid (principal, action, resource) when { principal == Nobody::"x" };`)
  const other = await start(t, site).catch(() => undefined)
  if (other !== undefined) {
    assert.notEqual(wordFor(await call(other.gateway, 'a/pay', given)), 'answered:succeeded')
    await other.stop()
  }
  writeFileSync(policy, `${before}\npermit (principal, action, resource);`)
  const third = await start(t, site)
  assert.equal(wordFor(await call(third.gateway, 'a/pay', given)), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), [])
  await third.stop()
  writeFileSync(policy, before)
  const last = await start(t, site)
  assert.equal(wordFor(await call(last.gateway, 'a/pay', given)), 'answered:succeeded')
  assert.deepEqual(effectsIn(site.effects), ['k'])
})

test('a link that is swapped between the yes and the repeat is another scope, which nobody has agreed to', async (t) => {
  const { gateway, site } = await open(t)
  for (const name of ['mild', 'wild']) {
    mkdirSync(join(site.folder, name))
    writeFileSync(join(site.folder, name, 'file'), name)
  }
  const link = join(site.folder, 'link')
  symlinkSync(join(site.folder, 'mild'), link)
  const given = { path: 'link/file' }
  assert.equal(wordFor(await call(gateway, 'a/read_it', given)), 'APPROVAL_WAITING')
  await gateway.control.decideApproval(await waiting(gateway, 1), yes)
  rmSync(link)
  symlinkSync(join(site.folder, 'wild'), link)
  assert.equal(wordFor(await call(gateway, 'a/read_it', given)), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), [])
  rmSync(link)
  symlinkSync('/etc', link)
  assert.notEqual(wordFor(await call(gateway, 'a/read_it', { path: 'link/passwd' })), 'answered:succeeded')
  assert.deepEqual(effectsIn(site.effects), [])
})

test('a denial stands for the same call, and for no other', async (t) => {
  const { gateway, site } = await open(t)
  await call(gateway, 'a/pay', { key: 'k', mode: 'ok' })
  await gateway.control.decideApproval(await waiting(gateway, 1), no)
  for (let n = 0; n < 3; n++) {
    const answer = await call(gateway, 'a/pay', { mode: 'ok', key: 'k' })
    assert.equal(wordFor(answer), 'APPROVAL_DENIED')
  }
  const after = await gateway.control.decideApproval((await gateway.control.approvals({ limit: 1 }))[0]!.id, yes)
  assert.ok(after !== undefined && 'code' in after, 'a no is not turned into a yes')
  assert.equal(wordFor(await call(gateway, 'a/pay', { key: 'other', mode: 'ok' })), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), [])
})

test('a question that expires while its caller waits ends the wait, and is not answered any more', async (t) => {
  const site = makeSite(t, (it) => yaml('channels: [cli], selfApproval: true, expires: 1s')(it).replace('300ms', '3s'))
  const gateway = await openApproved(t, site)
  const began = Date.now()
  const waits = call(gateway, 'a/pay', { key: 'k', mode: 'ok' })
  const id = await waiting(gateway, 1)
  await until('it has expired', async () => (await gateway.control.approval(id))?.state === 'expired')
  const late = await gateway.control.decideApproval(id, yes)
  assert.ok(late !== undefined && 'code' in late)
  await waits
  assert.deepEqual(effectsIn(site.effects), [])
  assert.ok(Date.now() - began < 2500, 'it waited for an answer that could not come any more')
})

test('where nobody says yes to their own call, the local user does not, by whatever channel', async (t) => {
  const { gateway, site } = await open(t, 'channels: [cli, terminal], selfApproval: false, expires: 1m')
  await call(gateway, 'a/pay', { key: 'k', mode: 'ok' })
  const id = await waiting(gateway, 1)
  for (const channel of ['cli', 'terminal', 'console'] as const) {
    const answer = await gateway.control.decideApproval(id, { decision: 'granted', channel, why: '' } as never)
    assert.ok(answer !== undefined && 'code' in answer, channel)
  }
  const elicited = await gateway.core.desk.answer(id, { by: 'local', channel: 'elicitation', granted: true, why: '' })
  assert.ok('code' in elicited)
  assert.equal(wordFor(await call(gateway, 'a/pay', { key: 'k', mode: 'ok' })), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), [])
})

test('a hundred and one expired questions do not stand in the way of asking one of them again', async (t) => {
  const site = makeSite(t, (it) => yaml('channels: [cli], selfApproval: true, expires: 1s')(it).replace('300ms', '1ms'))
  const gateway = await openApproved(t, site)
  await Promise.all(Array.from({ length: 150 }, (_, n) => call(gateway, 'a/pay', { key: `k${n}`, mode: 'ok' })))
  const { ledger } = gateway.core.open
  const asked = ledger.approvals({ limit: 1000 })
  assert.equal(asked.length, 150)
  await until('all have expired', () => ledger.approvals({ states: ['waiting'], limit: 1000 }).length === 0)
  const last = asked.toSorted((a, b) => (a.question.bindingDigest < b.question.bindingDigest ? 1 : -1))[0]!
  const given = JSON.parse(ledger.approvalArguments(last.id)!) as JsonObject
  assert.equal(wordFor(await call(gateway, 'a/pay', given)), 'APPROVAL_WAITING')
})

test('a yes that is taken back before it is used runs nothing: the same call is asked anew, and the record says who took it back', async (t) => {
  const { gateway, site } = await open(t)
  const given = { key: 'k', mode: 'ok' }
  assert.equal(wordFor(await call(gateway, 'a/pay', given)), 'APPROVAL_WAITING')
  const first = await waiting(gateway, 1)
  await gateway.control.decideApproval(first, yes)
  const back = await gateway.control.decideApproval(first, { decision: 'revoked', channel: 'cli', why: 'too soon' })
  assert.ok(back !== undefined && 'state' in back && back.state === 'expired')
  assert.equal(wordFor(await call(gateway, 'a/pay', given)), 'APPROVAL_WAITING')
  assert.deepEqual(effectsIn(site.effects), [])
  assert.notEqual(await waiting(gateway, 1), first)
  const [record] = (await gateway.control.evidence({ approval: first, limit: 10 })).slice(-1)
  assert.deepEqual(
    [record?.['kind'], record?.['facts']],
    ['approval.revoked', { by: 'local', from: 'granted', why: 'too soon' }],
  )
  const again = await gateway.control.decideApproval(first, { decision: 'revoked', channel: 'cli', why: '' })
  assert.ok(again !== undefined && 'code' in again)
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('taken back and used at the same time, a yes is one of the two', async (t) => {
  const { gateway, site } = await open(t)
  for (let n = 0; n < 5; n++) {
    const given = { key: `k${n}`, mode: 'ok' }
    await call(gateway, 'a/pay', given)
    const id = await waiting(gateway, 1)
    await gateway.control.decideApproval(id, yes)
    const [answer, back] = await Promise.all([
      call(gateway, 'a/pay', given),
      gateway.control.decideApproval(id, { decision: 'revoked', channel: 'cli', why: '' }),
    ])
    const ran = answer.kind === 'answered'
    assert.equal(ran, back !== undefined && 'code' in back, wordFor(answer))
    assert.equal(effectsIn(site.effects).includes(`k${n}`), ran)
    for (const { id: open } of await gateway.control.approvals({ state: 'waiting', limit: 10 }))
      await gateway.control.decideApproval(open, { decision: 'revoked', channel: 'cli', why: '' })
  }
})
