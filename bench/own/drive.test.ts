import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { definitionsOf } from '../gateway.ts'
import { direct } from '../peers.ts'
import type { Plan } from '../target.ts'
import { compareOwn } from './compare.ts'
import { drive, median } from './drive.ts'
import { cpuNanos, treeOf } from './processes.ts'
import { freePort, type Running, startUpstream } from './running.ts'
import { openSession } from './session.ts'

const work = mkdtempSync(join(tmpdir(), 'bench-'))
after(() => rmSync(work, { recursive: true }))

async function planned(): Promise<Plan> {
  return {
    targets: [direct],
    scenarios: [{ what: 'echo', callers: 2 }],
    rounds: 2,
    sliceMs: 50,
    warmMs: 100,
    upstream: join(import.meta.dirname, 'upstream.ts'),
    upstreamPort: await freePort(),
    upstreamTools: 3,
    work,
  }
}

async function withUpstream(does: (upstream: Running) => Promise<void>): Promise<void> {
  const upstream = await startUpstream(await planned())
  try {
    await does(upstream)
  } finally {
    await upstream.stop()
  }
}

const echo = (n: number) => ({ name: 'echo', arguments: { text: `call ${n}` } })

test('the driver makes exactly the calls it is told to, and counts all of them', () =>
  withUpstream(async ({ target, pid }) => {
    const session = await openSession({ ...target, timeoutMs: 5000 })
    const asked: number[] = []
    const params = (n: number) => (asked.push(n), echo(n))
    const settings = {
      callers: 4,
      method: 'tools/call',
      calls: 30,
      maxMs: 10_000,
      cpuNanos: () => cpuNanos(pid, []),
    } as const
    const driven = await drive([session], { ...settings, params })
    assert.deepEqual(
      asked,
      Array.from({ length: 30 }, (_, n) => n),
    )
    assert.equal(driven.ok, 30)
    assert.equal(driven.errors, 0)
    assert.ok(driven.p50ms > 0 && driven.p50ms <= driven.p99ms)
    assert.ok(driven.cpuMicros > 0 && driven.perSecond > 0)
  }))

test('an answer that is an error is counted as one, and has no latency', () =>
  withUpstream(async ({ target }) => {
    const session = await openSession({ ...target, timeoutMs: 5000 })
    const params = (n: number) => (n % 3 === 0 ? { name: 'nothing' } : echo(n))
    const driven = await drive([session], {
      callers: 2,
      method: 'tools/call',
      params,
      calls: 9,
      maxMs: 10_000,
      cpuNanos: () => 0,
    })
    assert.deepEqual([driven.ok, driven.errors], [6, 3])
    assert.match(driven.firstError ?? '', /No tools\/call nothing/)
  }))

test('a large answer comes whole, and so does one in chunks and in events', async () => {
  await withUpstream(async ({ target }) => {
    const slot = (await openSession({ ...target, timeoutMs: 5000 })).slot()
    const answer = JSON.parse((await slot.call('tools/call', { name: 'big' })).toString('utf8')) as {
      result: { content: { text: string }[] }
    }
    assert.equal(answer.result.content[0]!.text.length, 204_800)
    slot.close()
  })
  const text = JSON.stringify({ id: 2, result: 'x'.repeat(300_000) })
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: message\n')
    for (let at = 0, line = `data: ${text}\n\n`; at < line.length; at += 70_001)
      response.write(line.slice(at, at + 70_001))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const session = await openSession({ endpoint, timeoutMs: 5000 })
  const slot = session.slot()
  assert.equal((await slot.call('tools/list', undefined)).toString('utf8').trim(), text)
  slot.close()
  server.closeAllConnections()
  server.close()
})

test('CPU time is that of the process and all below it, without the upstream that it starts', () =>
  withUpstream(async ({ target, pid }) => {
    const { upstream } = await planned()
    const slot = (await openSession({ ...target, timeoutMs: 5000 })).slot()
    for (let n = 0; n < 20; n++) await slot.call('tools/call', { name: 'big' })
    slot.close()
    const ofUpstream = cpuNanos(pid, [upstream])
    assert.ok(ofUpstream > 1e6)
    // This process started the upstream.
    assert.ok(treeOf(process.pid).includes(pid))
    assert.ok(cpuNanos(process.pid, []) - cpuNanos(process.pid, [upstream]) > 0.8 * ofUpstream)
    assert.equal(cpuNanos(2 ** 30, []), 0)
  }))

test('the upstream says the same of its tools over stdio as over HTTP', () =>
  withUpstream(async ({ target }) => {
    const slot = (await openSession({ ...target, timeoutMs: 5000 })).slot()
    const answer = JSON.parse((await slot.call('tools/list', undefined)).toString('utf8')) as {
      result: { tools: object[] }
    }
    slot.close()
    assert.deepEqual(answer.result.tools, await definitionsOf(join(import.meta.dirname, 'upstream.ts'), 3))
  }))

test('the direct connection compared with itself is one', async () => {
  const rows = await compareOwn(await planned(), () => {}, AbortSignal.timeout(30_000))
  assert.equal(rows.length, 1)
  const [{ scenario, ofDirect, errors, cpuMicros }] = rows as [(typeof rows)[number]]
  assert.deepEqual([scenario, ofDirect, errors], ['echo@2', 1, 0])
  assert.ok(cpuMicros > 0)
})

test('a target that does not start is reported and keeps nobody else from being measured', async () => {
  const broken = { name: 'broken', start: ['{node}', '-e', 'process.exit(7)'], endpoint: 'http://127.0.0.1:{port}/mcp' }
  const plan = { ...(await planned()), targets: [direct, broken] }
  const rows = await compareOwn(plan, () => {}, AbortSignal.timeout(30_000))
  assert.match(rows.find(({ target }) => target === 'broken')?.why ?? '', /ended with 7/)
  assert.equal(rows.find(({ target }) => target === 'direct')?.errors, 0)
})

test('the median of an even number of values lies between the middle two, and NaN is left out', () => {
  assert.equal(median([4, 1, NaN, 3, 2]), 2.5)
  assert.equal(median([3, 1, 2]), 2)
  assert.ok(Number.isNaN(median([])))
})
