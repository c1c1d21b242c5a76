import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { ControlClient } from '../../src/gateway/control/client.ts'
import { openHome } from '../../src/gateway/home.ts'
import { ledgerFile, verifyLedger } from '../../src/store/sqlite/verify.ts'
import { approveAll, makeSite, openGateway, type Site } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, start, until, wordFor } from '../hostile/attack.ts'

const wild = join(import.meta.dirname, '..', 'hostile', 'servers', 'wild.ts')
const script = join(import.meta.dirname, '..', 'crash', 'gateway.ts')
const never = new AbortController().signal
const plain = '{ effect: once, risk: low }'
const looked = `{ effect: once, risk: low, softDeadlineMs: 200, hardDeadlineMs: 400, reconcile: { tool: w/paid, arguments: { key: { $argument: /key } }, expect: [{ at: /content/0/text, equals: 'yes' }], settleMs: 20, maxExecutionMs: 100 } }`

const yaml =
  (more = '', pay = plain, rule = 'decision: allow') =>
  ({ effects }: Site): string =>
    `
servers:
  w:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      pay: ${pay}
      paid: { effect: read, risk: low }
      text: { effect: read, risk: low }
consent:
  wait: 50ms
  rules: [{ name: one, ${rule} }]
${more}
`

async function gatewayProcess(site: Site, point?: string) {
  const args = [script, site.config, site.home, ...(point === undefined ? [] : [point])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(createInterface({ input: child.stdout }), 'line')
  const client = new ControlClient(openHome(site.home).controlSocket)
  const pay = (key: string, mode: string) =>
    client.call({ target: { server: 'w', name: 'pay' }, arguments: JSON.stringify({ key, mode }), door: 'cli' }, never)
  return { child, pay, dead: once(child, 'exit') }
}

test('D1: a ledger that went back signs nothing, not for an export either, and stays closed after one', async (t) => {
  const site = makeSite(t, yaml())
  await approveAll(site)
  const { child, pay, dead } = await gatewayProcess(site)
  await pay('a', 'ok')
  const copy = join(site.folder, 'copy.db')
  const db = new DatabaseSync(ledgerFile(site.home), { readOnly: true })
  db.exec(`VACUUM INTO '${copy}'`)
  db.close()
  await pay('b', 'ok')
  child.kill('SIGKILL')
  await dead
  for (const end of ['', '-wal', '-shm']) rmSync(`${ledgerFile(site.home)}${end}`, { force: true })
  cpSync(copy, ledgerFile(site.home))
  const first = await start(t, site)
  assert.equal(wordFor(await call(first.gateway, 'w/pay', { key: 'b', mode: 'ok' })), 'LEDGER_ROLLED_BACK')
  try {
    for await (const _line of first.gateway.control.exportEvidence({ payloads: 'no' }, never));
  } catch {
    // To refuse is as good as to export it unsigned.
  }
  await first.stop()
  assert.equal(verifyLedger(site.home).verdict, 'tampered')
  const second = await start(t, site)
  assert.equal(wordFor(await call(second.gateway, 'w/pay', { key: 'b', mode: 'ok' })), 'LEDGER_ROLLED_BACK')
  assert.deepEqual(effectsIn(site.effects), ['a', 'b'])
})

test('D2: a yes that was written into the ledger by hand is told', async (t) => {
  const site = makeSite(t, yaml('', plain, 'decision: ask, channels: [cli]'))
  const first = await start(t, site)
  const { approveOffered } = await import('../fixtures/site.ts')
  await approveOffered(first.gateway)
  assert.equal(wordFor(await call(first.gateway, 'w/pay', { key: 'x', mode: 'ok' })), 'APPROVAL_WAITING')
  await first.stop()
  const db = new DatabaseSync(ledgerFile(site.home))
  db.exec("UPDATE approval SET state = 'granted', decided_by = 'boss', channel = 'cli', decided_at = 1")
  db.close()
  assert.equal(verifyLedger(site.home).verdict, 'tampered')
})

test('D3: a fault after the sending is unknown and not an error, and gives its hold back', async (t) => {
  const site = makeSite(t, yaml('budgets: [{ name: two at once, per: principal, concurrency: 2 }]'))
  const gateway = await openApproved(t, site)
  rmSync(join(site.home, 'spill'), { recursive: true })
  for (let n = 0; n < 3; n++)
    assert.notEqual(wordFor(await call(gateway, 'w/text', { bytes: 400_000 })), 'TOO_MANY_AT_ONCE')
})

test('D4: an idempotency key answers again what is on record, without asking anybody', async (t) => {
  const site = makeSite(t, yaml())
  const gateway = await openApproved(t, site)
  const again = { requestKey: 'k'.repeat(20) }
  assert.equal(wordFor(await call(gateway, 'w/pay', { key: 'x', mode: 'ok' }, again)), 'answered:succeeded')
  assert.equal(wordFor(await call(gateway, 'w/pay', { key: 'x', mode: 'ok' }, again)), 'answered:succeeded')
  assert.deepEqual(effectsIn(site.effects), ['x'])
})

test('D5: what was unknown before the end of the process is looked up after the next start', async (t) => {
  const site = makeSite(t, yaml('', looked))
  await approveAll(site)
  const { pay, dead } = await gatewayProcess(site, 'outcome-recorded')
  await pay('a', 'silent').catch(() => undefined)
  await dead
  const gateway = await openGateway(t, site)
  await until(
    'it is found',
    async () => (await gateway.control.operations({ limit: 1, state: 'reconciled_effect' })).length === 1,
    5_000,
  )
})

test('D6: a refusal of the side-effect gate is on record', async (t) => {
  const gateway = await openApproved(t, makeSite(t, yaml()))
  const again = { requestKey: 'k'.repeat(20) }
  await call(gateway, 'w/pay', { key: 'x', mode: 'ok' }, again)
  const size = gateway.core.open.size()
  assert.equal(wordFor(await call(gateway, 'w/pay', { key: 'y', mode: 'ok' }, again)), 'KEY_REUSED')
  assert.ok(gateway.core.open.records({ from: size, limit: 10 }).some((line) => line.includes('KEY_REUSED')))
})

test('D7: an export holds no bare digest of arguments, which could be guessed', async (t) => {
  const gateway = await openApproved(t, makeSite(t, yaml()))
  await call(gateway, 'w/pay', { key: 'x', mode: 'ok' })
  const bare = createHash('sha256').update('{"key":"x","mode":"ok"}').digest('hex')
  for await (const line of gateway.core.open.exportLines()) assert.ok(!line.includes(bare))
})

test('D8: a gateway whose ledger cannot be written starts closed, or says why it does not', async (t) => {
  const site = makeSite(t, yaml())
  await approveAll(site)
  const db = new DatabaseSync(ledgerFile(site.home))
  db.exec("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END")
  const late = new Promise((resolve) => setTimeout(() => resolve('hangs'), 8_000).unref())
  const started = await Promise.race([
    start(t, site).then(
      () => 'started',
      () => 'refused',
    ),
    late,
  ])
  db.exec('DROP TRIGGER full')
  db.close()
  assert.notEqual(started, 'hangs')
})

test('D9: questions that wait are listed, however many others were answered since', async (t) => {
  const gateway = await openApproved(
    t,
    makeSite(t, yaml('', plain, 'decision: ask, channels: [cli], selfApproval: true')),
  )
  await call(gateway, 'w/pay', { key: 'first', mode: 'ok' })
  for (let n = 0; n < 9; n++) {
    const asked = await call(gateway, 'w/pay', { key: `later ${n}`, mode: 'ok' })
    assert.ok(asked.kind === 'refused' && asked.approval !== undefined)
    await gateway.control.decideApproval(asked.approval, { decision: 'denied', channel: 'cli', why: '' })
  }
  assert.equal((await gateway.control.approvals({ state: 'waiting', limit: 2 })).length, 1)
})
