import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { ControlClient } from '../../src/gateway/control/client.ts'
import { openHome } from '../../src/gateway/home.ts'
import { approveAll, makeSite, openGateway, type Site } from '../fixtures/site.ts'
import { call, effectsIn, until, wordFor } from '../hostile/attack.ts'

const wild = join(import.meta.dirname, '..', 'hostile', 'servers', 'wild.ts')
const gatewayScript = join(import.meta.dirname, '..', 'crash', 'gateway.ts')

const yaml = ({ effects }: Site): string => `
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
        reconcile:
          tool: a/paid
          arguments: { key: { $argument: /key } }
          expect: [{ at: /content/0/text, equals: 'yes' }]
          settleMs: 20
          maxExecutionMs: 1500
consent: { rules: [{ name: all pass, decision: allow }] }
`

const payment = { key: 'k1', mode: 'ok' }

async function dieAt(site: Site, point: string): Promise<void> {
  await approveAll(site)
  const child = spawn(process.execPath, [gatewayScript, site.config, site.home, point], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(createInterface({ input: child.stdout }), 'line')
  const dead = once(child, 'exit')
  await new ControlClient(openHome(site.home).controlSocket)
    .call(
      { target: { server: 'a', name: 'pay' }, arguments: JSON.stringify(payment), door: 'cli' },
      AbortSignal.timeout(20_000),
    )
    .catch(() => undefined)
  assert.deepEqual(await dead, [null, 'SIGKILL'])
}

test('F25: killed after the reply and before its record: unknown at the restart, found by the read-back without anybody asking', async (t) => {
  const site = makeSite(t, yaml)
  await dieAt(site, 'answered')
  assert.deepEqual(effectsIn(site.effects), ['k1'])
  const gateway = await openGateway(t, site)
  await until('it is found', async () => {
    const [only, ...more] = await gateway.control.operations({ limit: 10, state: 'reconciled_effect' })
    assert.deepEqual(more, [])
    return only !== undefined
  })
  assert.deepEqual(effectsIn(site.effects), ['k1'])
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('F24: killed between the intent and the first byte: unknown, then known to be nothing after two noes; the same call then runs once', async (t) => {
  const site = makeSite(t, yaml)
  await dieAt(site, 'intent-recorded')
  assert.deepEqual(effectsIn(site.effects), [])
  const gateway = await openGateway(t, site)
  assert.equal(wordFor(await call(gateway, 'a/pay', payment)), 'OUTCOME_UNKNOWN')
  await until(
    'it is known that nothing happened',
    async () => (await gateway.control.operations({ limit: 10, state: 'reconciled_none' })).length === 1,
    20_000,
  )
  assert.equal(wordFor(await call(gateway, 'a/pay', payment)), 'answered:succeeded')
  assert.deepEqual(effectsIn(site.effects), ['k1'])
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('F26: killed three times more while it starts: one record says that the outcome is unknown', async (t) => {
  const site = makeSite(t, (it) => yaml(it).replace(/ {8}reconcile:[^]*maxExecutionMs: 1500\n/, ''))
  await dieAt(site, 'sent')
  for (let n = 0; n < 3; n++) {
    const child = spawn(process.execPath, [gatewayScript, site.config, site.home], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // Some die before they are ready, and some after.
    const dead = once(child, 'exit')
    const ready = once(createInterface({ input: child.stdout }), 'line')
    await Promise.race([ready, new Promise((resolve) => setTimeout(resolve, 150 + 350 * n))])
    child.kill('SIGKILL')
    await dead
  }
  const gateway = await openGateway(t, site)
  const [only, ...more] = await gateway.control.operations({ limit: 10 })
  assert.deepEqual([only?.state, only?.standing, more], ['unknown', 'silent', []])
  const records = await gateway.control.evidence({ operation: only!.id, limit: 50 })
  assert.equal(records.filter(({ kind }) => kind === 'op.unknown').length, 1)
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})
