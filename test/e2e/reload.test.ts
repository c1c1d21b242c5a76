import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { approveOffered, fixture, makeSite, openGateway, type Site } from '../fixtures/site.ts'

const server = (effects: string): string =>
  `{ command: node, args: [${fixture('honest')}, --effects, ${effects}], tools: { echo: { effect: read, risk: low }, write_note: { effect: once } } }`

function yaml(site: Pick<Site, 'effects'>, rest: string, servers = ''): string {
  return `
servers:
  notes: ${server(site.effects)}
${servers}
consent: { wait: 1s, rules: [{ name: all pass, decision: allow }] }
sandbox: none
${rest}
`
}

const still = 'reload: { watch: false }'

async function openSite(t: TestContext, rest = still): Promise<{ site: Site; gateway: RunningGateway }> {
  const site = makeSite(t, (made) => yaml(made, rest))
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  return { site, gateway }
}

const write = (site: Site, rest: string, servers = ''): void => writeFileSync(site.config, yaml(site, rest, servers))

async function echo(gateway: RunningGateway, name = 'notes'): Promise<string> {
  const answer = await gateway.control.call(
    { target: { server: name, name: 'echo' }, arguments: '{"text":"hello"}', door: 'cli' },
    AbortSignal.timeout(20_000),
  )
  return answer.kind === 'refused' ? answer.code : answer.kind
}

const reload = (gateway: RunningGateway, loosening = false) => gateway.control.reloadConfig({ loosening })

async function configurationRecords({ gateway }: { gateway: RunningGateway }): Promise<string> {
  const records = await gateway.control.evidence({ from: 1, limit: 1000 })
  return JSON.stringify(records.filter((it) => JSON.stringify(it).includes('configuration.changed')))
}

test('a budget that comes by a reload holds from the next call on, and the session that calls stays', async (t) => {
  const { site, gateway } = await openSite(t)
  assert.equal(await echo(gateway), 'answered')
  write(site, `${still}\nbudgets: [{ name: few, per: all, window: 1h, calls: 2 }]`)
  assert.deepEqual((await reload(gateway)).changed, ['budgets'])
  // The one call of before counts: the ledger knows of it.
  assert.equal(await echo(gateway), 'answered')
  assert.equal(await echo(gateway), 'BUDGET_SPENT')
  write(site, `${still}\nbudgets: [{ name: few, per: all, window: 1h, calls: 9 }]`)
  const held = await reload(gateway)
  assert.deepEqual([held.state, held.loosens], ['held', ['budgets.few']])
  assert.equal(await echo(gateway), 'BUDGET_SPENT')
  assert.equal((await reload(gateway, true)).state, 'applied')
  assert.equal(await echo(gateway), 'answered')
  assert.match(await configurationRecords({ gateway }), /"loosens":\["budgets\.few"\]/)
})

test('a file or a policy with a fault in it leaves the old one in force, and the status says why', async (t) => {
  const { site, gateway } = await openSite(t)
  write(site, `${still}\nbudgts: []`)
  const wrong = await reload(gateway, true)
  assert.equal(wrong.state, 'rejected')
  assert.match(wrong.why!, /unknown key `budgts`/)
  assert.equal((await gateway.control.status()).reload?.state, 'rejected')
  write(site, still)
  const policy = join(site.folder, 'policy', 'all.cedar')
  const before = readFileSync(policy, 'utf8')
  writeFileSync(policy, 'permit (principal, action')
  assert.equal((await reload(gateway, true)).state, 'rejected')
  assert.equal(await echo(gateway), 'answered')
  writeFileSync(policy, `${before}\nforbid (principal, action, resource);`)
  assert.equal((await reload(gateway)).state, 'held')
  assert.equal((await reload(gateway, true)).state, 'applied')
  assert.equal(await echo(gateway), 'TOOL_UNKNOWN')
})

test('a server that comes is in quarantine, one that goes is unknown, and the others stay connected', async (t) => {
  const { site, gateway } = await openSite(t)
  const pid = (await gateway.control.server('notes'))?.pid
  write(site, still, `  more: ${server(site.effects)}`)
  const report = await reload(gateway)
  assert.deepEqual([report.state, report.changed, report.loosens], ['applied', ['servers.more'], []])
  await until(async () => (await gateway.control.server('more'))?.state === 'ready')
  await until(async () => (await echo(gateway, 'more')) === 'TOOL_NOT_APPROVED')
  await until(async () => (await gateway.control.tools({ server: 'more' })).every((it) => it.livePin !== undefined))
  await approveOffered(gateway)
  assert.equal(await echo(gateway, 'more'), 'answered')
  assert.equal((await gateway.control.server('notes'))?.pid, pid)
  write(site, `${still}\nendpoint: { port: 1 }`)
  const gone = await reload(gateway)
  assert.deepEqual([gone.state, gone.needsRestart], ['applied', ['endpoint']])
  assert.equal(await echo(gateway, 'more'), 'TOOL_UNKNOWN')
  assert.equal(await gateway.control.server('more'), undefined)
  assert.equal(await echo(gateway), 'answered')
})

test('with `watch` a change of the file is enough', async (t) => {
  const { site, gateway } = await openSite(t, '')
  write(site, 'budgets: [{ name: none, per: all, window: 1h, calls: 0 }]')
  await until(async () => (await echo(gateway)) === 'BUDGET_SPENT')
})

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await pause(50))
    if (Date.now() > end) assert.fail('it did not come to hold within 30 s')
}
