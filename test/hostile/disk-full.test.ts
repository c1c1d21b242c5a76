import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { makeHome } from '../../src/gateway/home.ts'
import { approveOffered, makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, start, type Stoppable, until, wordFor } from './attack.ts'

const wild = join(import.meta.dirname, 'servers', 'wild.ts')
const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      pay: { effect: once, risk: low, repeat: allow }
      paid: { effect: read, risk: low }
      say: { effect: once, risk: low }
consent:
  wait: 300ms
  rules:
    - { name: say asks, tool: a/say, decision: ask, channels: [cli], selfApproval: true, expires: 1m }
    - { name: all else passes, decision: allow }
`

/** A home on a file system of 2 MB, which only root can make. */
async function onSmallDisk(t: TestContext): Promise<{ site: Site; running: Stoppable } | undefined> {
  const mount = mkdtempSync(join(tmpdir(), 'countersign-small-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', mount], { stdio: 'ignore' })
  } catch {
    rmSync(mount, { recursive: true })
    t.skip('a small file system can be mounted by root only')
    return undefined
  }
  const made = makeSite(t, yaml)
  const site = { ...made, home: join(mount, 'home') }
  makeHome(site.home)
  const running = await start(t, site)
  t.after(async () => {
    rmSync(ballast(site), { force: true })
    await running.stop()
    execFileSync('umount', ['-l', mount])
    rmSync(mount, { recursive: true })
  })
  await approveOffered(running.gateway)
  return { site, running }
}

const ballast = (site: Site): string => join(site.home, 'ballast')
function fill(site: Site): void {
  for (const size of [1 << 20, 1 << 16, 1 << 12])
    for (let n = 0; n < 64; n++) {
      try {
        writeFileSync(ballast(site), Buffer.alloc(size), { flag: 'a' })
      } catch {
        break
      }
    }
}

/** Calls until the ledger cannot be written: its log has room for a few more. */
async function untilRefused(running: Stoppable): Promise<string[]> {
  const said: string[] = []
  for (let n = 0; n < 200 && said.at(-1) !== 'LEDGER_UNAVAILABLE'; n++)
    said.push(wordFor(await call(running.gateway, 'a/pay', { key: `full${n}`, mode: 'ok' })))
  return said
}

test('on a full disk effects are refused, nothing crashes, and with room again it goes on and verifies', async (t) => {
  const small = await onSmallDisk(t)
  if (small === undefined) return
  const { site, running } = small
  const { gateway } = running
  assert.equal(wordFor(await call(gateway, 'a/pay', { key: 'before', mode: 'ok' })), 'answered:succeeded')
  fill(site)
  const said = await untilRefused(running)
  assert.equal(said.at(-1), 'LEDGER_UNAVAILABLE')
  const effects = effectsIn(site.effects).length
  for (let n = 0; n < 20; n++)
    assert.equal(wordFor(await call(gateway, 'a/pay', { key: `no${n}`, mode: 'ok' })), 'LEDGER_UNAVAILABLE')
  assert.equal(effectsIn(site.effects).length, effects)
  assert.equal((await gateway.control.status()).ledger.state, 'unavailable')
  rmSync(ballast(site))
  await until('it can be written again', async () => (await gateway.control.status()).ledger.state === 'ok')
  assert.equal(wordFor(await call(gateway, 'a/pay', { key: 'after', mode: 'ok' })), 'answered:succeeded')
  // What was running when the disk was full has its outcome on record by now, or is unknown; nothing hangs open.
  const open = await gateway.control.operations({ state: 'dispatched', limit: 100 })
  assert.deepEqual(open, [])
  const judged = await gateway.control.verifyEvidence()
  assert.deepEqual(judged.why, [])
  const operations = await gateway.control.operations({ limit: 1000 })
  assert.equal(operations.length, effectsIn(site.effects).length)
})

test('on a full disk every caller gets an answer in time: a refused one, a read, and one that asks', async (t) => {
  const small = await onSmallDisk(t)
  if (small === undefined) return
  const { site, running } = small
  const { gateway } = running
  fill(site)
  await untilRefused(running)
  const soon = async (what: string, answer: Promise<unknown>): Promise<string | undefined> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => (timer = setTimeout(resolve, 3000, 'late')))
    const got = await Promise.race([
      answer.then(
        () => 'answered',
        () => 'answered',
      ),
      late,
    ])
    clearTimeout(timer)
    return got === 'late' ? `${what} is never answered` : undefined
  }
  const late = await Promise.all([
    soon('a call with wrong arguments', call(gateway, 'a/pay', { key: 1 })),
    soon('a call of nothing', call(gateway, 'a/nothing', {})),
    soon('a read', call(gateway, 'a/paid', { key: 'before' })),
    soon('a call that asks', call(gateway, 'a/say', { result: {} })),
  ])
  assert.deepEqual(
    late.filter((it) => it !== undefined),
    [],
  )
})

test('effects under way when the disk fills up are recorded when there is room again, and none of them twice', async (t) => {
  const small = await onSmallDisk(t)
  if (small === undefined) return
  const { site, running } = small
  const { gateway } = running
  fill(site)
  // Many at once: some get their intent on disk, and no room is left for what became of them.
  const calls = Array.from({ length: 120 }, (_, n) => call(gateway, 'a/pay', { key: `n${n}`, mode: 'ok' }))
  const words = (await Promise.all(calls)).map(wordFor)
  rmSync(ballast(site))
  await until('it can be written again', async () => (await gateway.control.status()).ledger.state === 'ok')
  await until(
    'nothing is open',
    async () => (await gateway.control.operations({ state: 'dispatched', limit: 100 })).length === 0,
  )
  const effects = effectsIn(site.effects)
  assert.equal(new Set(effects).size, effects.length)
  const operations = await gateway.control.operations({ limit: 1000 })
  assert.equal(operations.length, effects.length, JSON.stringify(words))
  assert.ok(operations.every(({ state }) => state === 'succeeded'))
  assert.deepEqual((await gateway.control.verifyEvidence()).why, [])
})
