import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { points } from '../../src/flow/points.ts'
import { ControlClient } from '../../src/gateway/control/client.ts'
import { openHome } from '../../src/gateway/home.ts'
import { verifyLedger } from '../../src/store/sqlite/verify.ts'
import { approveAll, fixture, makeSite, openGateway, type Site } from '../fixtures/site.ts'

const never = new AbortController().signal
const script = join(import.meta.dirname, 'gateway.ts')

function yaml({ effects }: Site): string {
  return `
servers:
  notes:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools:
      write_note: { effect: once, risk: low }
consent:
  rules:
    - { name: all pass, decision: allow }
`
}

function effectsOf(site: Site): number {
  return existsSync(site.effects) ? readFileSync(site.effects, 'utf8').split('\n').filter(Boolean).length : 0
}

/** Runs one call against a gateway that dies at that point; resolves when it is dead. */
async function callUntilDeath(site: Site, point: string): Promise<void> {
  const child = spawn(process.execPath, [script, site.config, site.home, point], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const [first] = (await once(lines, 'line')) as [string]
  assert.equal(first, 'ready')
  const dead = once(child, 'exit')
  const client = new ControlClient(openHome(site.home).controlSocket)
  await client
    .call({ target: { server: 'notes', name: 'write_note' }, arguments: '{"name":"a","text":"b"}', door: 'cli' }, never)
    .catch(() => undefined)
  const [, signal] = (await dead) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `the gateway was to die at ${point}`)
}

for (const point of points) {
  test(`killed at the point "${point}": at most one effect, no "failed" for what happened, the evidence verifies`, async (t) => {
    const site = makeSite(t, yaml)
    await approveAll(site)
    await callUntilDeath(site, point)
    const gateway = await openGateway(t, site)
    const effects = effectsOf(site)
    assert.ok(effects <= 1)
    const operations = await gateway.control.operations({ limit: 10 })
    assert.ok(operations.length <= 1)
    for (const { state, standing } of operations) {
      if (effects === 1) assert.notEqual(state, 'failed')
      // Whether it was sent cannot be known when the process died before the outcome was on record.
      if (point === 'intent-recorded' || point === 'sent' || point === 'answered')
        assert.deepEqual([state, standing], ['unknown', 'silent'])
      else assert.equal(state, 'succeeded')
    }
    if (effects === 1) assert.equal(operations.length, 1, 'an effect without an intent on record')
    if (point === 'proposed' || point === 'judged') assert.equal(operations.length, 0)

    // The model tries again, under a new call id: nothing happens twice, unless it is known that nothing happened.
    const again = await gateway.control.call(
      {
        target: { server: 'notes', name: 'write_note' },
        arguments: '{"text":"b","name":"a"}',
        door: 'cli',
        callId: 'again',
      },
      AbortSignal.timeout(500),
    )
    if (operations[0]?.state === 'unknown') {
      assert.ok(again.kind === 'refused')
      assert.equal(again.code, 'OUTCOME_UNKNOWN')
    } else if (operations.length === 0) assert.equal(again.kind, 'answered')
    else assert.ok(again.kind === 'refused' && (again.code === 'CALLER_LEFT' || again.code === 'APPROVAL_WAITING'))
    assert.ok(effectsOf(site) <= 1)

    assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
    await gateway.close()
    assert.equal(verifyLedger(site.home).verdict, 'valid')
  })
}
