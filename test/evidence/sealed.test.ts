import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import type { EvidenceRecord } from '../../src/flow/evidence/index.ts'
import { verifyLedger } from '../../src/store/sqlite/verify.ts'
import { verifyExport } from '../../src/verifier/index.ts'
import { main } from '../../src/cli/program.ts'
import { approveOffered, makeSite, type Site } from '../fixtures/site.ts'
import { call, operationOf, start, wordFor } from '../hostile/attack.ts'

const wild = join(import.meta.dirname, '..', 'hostile', 'servers', 'wild.ts')
const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      pay: { effect: once, risk: low, repeat: allow }
      paid: { effect: read, risk: low, scopes: [{ kind: record, from: /key, access: read }] }
consent:
  wait: 50ms
  rules:
    - { name: pay passes, tool: a/pay, decision: allow }
    - { name: reads pass, effect: [read], decision: allow }
    - { name: a person, decision: ask, channels: [cli], selfApproval: false, approvers: [bob], expires: 1h }
`
const SECRET = 'correct-horse-battery'

/** A home where a call, its result, a read and a question hold a word that must be sealed. */
async function ran(t: TestContext) {
  const site = makeSite(t, yaml)
  const running = await start(t, site)
  await approveOffered(running.gateway)
  const paid = await call(running.gateway, 'a/pay', { key: SECRET, mode: 'ok' })
  assert.equal(wordFor(paid), 'answered:succeeded')
  assert.equal(wordFor(await call(running.gateway, 'a/say', { result: SECRET })), 'APPROVAL_WAITING')
  return { site, gateway: running.gateway, stop: () => running.stop(), operation: operationOf(paid) }
}

function ledgerHolds(site: Site, word: string): string[] {
  return readdirSync(site.home).filter(
    (name) => name.startsWith('ledger.db') && readFileSync(join(site.home, name)).includes(word),
  )
}

async function exported(gateway: Awaited<ReturnType<typeof start>>['gateway'], file: string, payloads: boolean) {
  let text = ''
  for await (const line of gateway.core.open.exportLines({ payloads })) text += `${line}\n`
  writeFileSync(file, text)
  return text
}

test('what was sent, answered and asked is sealed at rest, and shown to whoever may ask', async (t) => {
  const { site, gateway, operation, stop } = await ran(t)
  assert.match((await gateway.control.operation(operation))?.arguments ?? '', new RegExp(SECRET))
  const [waiting] = await gateway.control.approvals({ state: 'waiting', limit: 5 })
  assert.match(waiting!.arguments, new RegExp(SECRET))
  const file = join(site.folder, 'export.jsonl')
  assert.ok(!(await exported(gateway, file, false)).includes(SECRET))
  await exported(gateway, file, true)
  assert.deepEqual((({ verdict, payloads }) => [verdict, payloads])(await verifyExport(file)), ['valid', 2])
  await stop()
  assert.deepEqual(ledgerHolds(site, SECRET), [])
})

test('erased, it is gone for good and the chain stays valid, here, in an export and in an older copy of the database', async (t) => {
  const { site, gateway, operation, stop } = await ran(t)
  const copy = join(site.folder, 'backup')
  mkdirSync(copy)
  for (const name of readdirSync(site.home).filter((it) => it.startsWith('ledger.db')))
    cpSync(join(site.home, name), join(copy, name))
  const erased = await gateway.control.eraseSubject({ tenant: 'local', principal: 'local', why: 'asked for it' })
  assert.equal(erased?.keys.length, 1)
  const shown = await gateway.control.operation(operation)
  assert.equal(shown?.state, 'succeeded')
  assert.deepEqual([shown.arguments, shown.result], [undefined, undefined])
  assert.deepEqual(await gateway.control.approvals({ state: 'waiting', limit: 5 }), [])
  const judged = await gateway.control.verifyEvidence()
  assert.deepEqual([judged.verdict, judged.erased], ['valid', 2])
  const file = join(site.folder, 'export.jsonl')
  await exported(gateway, file, false)
  assert.equal((await verifyExport(file)).verdict, 'valid')
  await exported(gateway, file, true)
  assert.deepEqual((({ verdict, erased: gone }) => [verdict, gone])(await verifyExport(file)), ['incomplete', 2])
  // The next call of the same principal is sealed under a new key.
  assert.equal(wordFor(await call(gateway, 'a/pay', { key: 'again', mode: 'ok' })), 'answered:succeeded')
  await stop()
  assert.equal(verifyLedger(site.home).verdict, 'valid')
  // The older database beside the keys of today: nothing in it can be opened, and it is told from the newer one.
  for (const name of readdirSync(site.home).filter((it) => it.startsWith('ledger.db'))) rmSync(join(site.home, name))
  for (const name of readdirSync(copy)) cpSync(join(copy, name), join(site.home, name))
  assert.equal(verifyLedger(site.home).verdict, 'tampered')
})

test('a key that is gone without a record, damaged or exchanged is told', async (t) => {
  const { site, stop } = await ran(t)
  await stop()
  const keys = join(site.home, 'keys', 'subjects')
  const [name] = readdirSync(keys)
  const whole = readFileSync(join(keys, name!))
  for (const damaged of ['destroyed\n', '', `${'0'.repeat(120)}\n`]) {
    writeFileSync(join(keys, name!), damaged)
    assert.equal(verifyLedger(site.home).verdict, 'tampered', damaged)
  }
  writeFileSync(join(keys, name!), whole)
  assert.equal(verifyLedger(site.home).verdict, 'valid')
})

test('a signing key is handed on; a lost one begins an epoch that only trust in the new key reaches', async (t) => {
  const { site, gateway, stop } = await ran(t)
  const pub = join(site.home, 'keys', 'evidence.pub.pem')
  const first = readFileSync(pub, 'utf8')
  await gateway.control.rotateKey()
  const second = readFileSync(pub, 'utf8')
  assert.notEqual(first, second)
  const file = join(site.folder, 'export.jsonl')
  await exported(gateway, file, false)
  for (const key of [first, second]) assert.equal((await verifyExport(file, { key })).verdict, 'valid')
  await stop()
  assert.equal(verifyLedger(site.home).verdict, 'valid')
  rmSync(join(site.home, 'keys', 'evidence.pem'))
  const again = await start(t, site)
  assert.equal((await again.gateway.control.verifyEvidence()).verdict, 'valid')
  await exported(again.gateway, file, false)
  assert.equal((await verifyExport(file, { key: second })).verdict, 'unjudgeable')
  assert.equal((await verifyExport(file, { key: readFileSync(pub, 'utf8') })).verdict, 'valid')
  await again.stop()
  assert.equal(verifyLedger(site.home).verdict, 'valid')
})

test('reads say once what they have in common, and each is shown whole', async (t) => {
  const { site, gateway, stop } = await ran(t)
  const answers = []
  for (const key of ['one', 'two', 'three']) answers.push(await call(gateway, 'a/paid', { key }))
  for (const answer of answers) {
    const shown = await gateway.control.operation(operationOf(answer))
    const last = shown?.happenings.at(-1)
    assert.ok(answer.kind === 'answered')
    assert.deepEqual(last?.steps, JSON.parse(JSON.stringify(answer.steps)))
    assert.deepEqual(last?.path, ['proposed', 'authorised', 'dispatched', 'succeeded'])
  }
  const file = join(site.folder, 'one.jsonl')
  let text = ''
  const filter = { operation: operationOf(answers[2]!) }
  for await (const line of gateway.core.open.exportLines({ filter })) text += `${line}\n`
  writeFileSync(file, text)
  assert.deepEqual((({ verdict, records }) => [verdict, records])(await verifyExport(file)), ['incomplete', 2])
  await stop()
  const db = new DatabaseSync(join(site.home, 'ledger.db'), { readOnly: true })
  const lines = db.prepare("SELECT record FROM event WHERE kind IN ('op.read', 'read.stated') ORDER BY seq").all()
  db.close()
  const kinds = lines.map(({ record }) => (JSON.parse(String(record)) as EvidenceRecord).kind)
  assert.deepEqual(kinds, ['read.stated', 'op.read', 'op.read', 'op.read'])
  const longest = Math.max(...lines.slice(1).map(({ record }) => String(record).length))
  assert.ok(longest < 1000, `a read takes ${longest} characters`)
})

test('replay lists the decisions that other policies would change, and needs no gateway', async (t) => {
  const { site, gateway, stop } = await ran(t)
  for (const key of ['one', 'two']) await call(gateway, 'a/paid', { key })
  await stop()
  const replayed = async (
    policy: string,
  ): Promise<{ judged: number; changes: { was: string; now: string; tool: string }[] }> => {
    const folder = join(site.folder, 'next')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'next.cedar'), policy)
    const before = readFileSync(site.effects, 'utf8')
    const printed: string[] = []
    t.mock.method(process.stdout, 'write', (text: string) => printed.push(text) > 0)
    try {
      const args = ['--config', site.config, '--home', site.home, '--json', 'evidence', 'replay', '--policy', folder]
      assert.equal(await main(args, AbortSignal.timeout(30_000)), 0)
    } finally {
      t.mock.restoreAll()
    }
    assert.equal(readFileSync(site.effects, 'utf8'), before)
    return JSON.parse(printed.join('')) as Awaited<ReturnType<typeof replayed>>
  }
  const all = 'permit (principal, action, resource);'
  const same = await replayed(all)
  assert.deepEqual([same.judged, same.changes], [4, []])
  const fewer = await replayed(
    `${all}\n@id("not two") forbid (principal, action == Action::"read", resource) when { context.scope.value == "two" };`,
  )
  assert.deepEqual(
    fewer.changes.map(({ tool, was, now }) => [tool, was, now]),
    [['a/paid', 'permit', 'deny']],
  )
  const none = await replayed('')
  assert.equal(none.changes.length, 4)
})
