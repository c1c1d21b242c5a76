import { findBubblewrap } from '../sandbox/bubblewrap.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Status } from '../api/contract.ts'
import { markOf } from '../gateway/ownership.ts'
import { workshop } from './cli.fixture.ts'
import { exits } from './exits.ts'

const weather = fileURLToPath(new URL('../../servers/weather/main.ts', import.meta.url))

function withWeather() {
  const shop = workshop()
  writeFileSync(
    join(shop.folder, 'countersign.yaml'),
    `sandbox: prefer\nendpoint: { port: 0 }\nservers: { weather: { command: node, args: [${JSON.stringify(weather)}] } }\n`,
  )
  mkdirSync(join(shop.folder, 'policy'))
  writeFileSync(join(shop.folder, 'policy', 'all.cedar'), 'permit (principal == User::"local", action, resource);\n')
  return shop
}

/** One client that starts `countersign stdio`, says hello and leaves. */
async function visit(shop: ReturnType<typeof workshop>): Promise<{ server: unknown; code: number }> {
  const child = shop.start(['stdio'])
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(60_000) })) as [string]
  child.stdin.end()
  const [code] = (await ended) as [number]
  return { server: (JSON.parse(line) as { result: { serverInfo: unknown } }).result.serverInfo, code }
}

test('clients that start at the same time share one gateway, which ends when it is told to', async () => {
  using shop = withWeather()
  try {
    const visits = await Promise.all([visit(shop), visit(shop)])
    for (const { server, code } of visits) {
      assert.equal((server as { name: string }).name, 'countersign')
      assert.equal(code, exits.done)
    }
    const status = JSON.parse((await shop.run(['status', '--json'])).stdout) as Status
    const busy = await shop.run(['up'])
    assert.equal(busy.code, exits.fault)
    assert.match(busy.stderr, new RegExp(`HOME_BUSY: .* process ${status.pid}`))
    const quarantined = await shop.run(['call', 'weather/get_weather', '--arg', 'location=Lisbon', '--json'])
    assert.equal(quarantined.code, exits.refused)
    assert.equal((JSON.parse(quarantined.stdout) as { code: string }).code, 'TOOL_NOT_APPROVED')
    const stopped = await shop.run(['stop', '--json'])
    assert.deepEqual(JSON.parse(stopped.stdout), { stopped: true })
    assert.equal(markOf(status.pid), undefined)
    assert.ok(!existsSync(join(shop.folder, '.countersign', 'gateway.lock')))
  } finally {
    await shop.run(['stop'])
  }
})

test('a tour that cannot be played is said on stderr, and how each server is confined can be seen', async () => {
  using shop = withWeather()
  const child = shop.start(['up', '--tour'])
  try {
    let said = ''
    child.stderr.on('data', (part: Buffer) => (said += part.toString('utf8')))
    const late = AbortSignal.timeout(60_000)
    while (!said.includes('Ctrl-C ends it')) await once(child.stderr, 'data', { signal: late })
    assert.match(said, /The tour cannot be played: there is no .*tour\.yaml/)
    assert.match(said, /The tour did not end as it says it does\. The gateway stays up\./)
    const shown = await shop.run(['server', 'show', 'weather', '--json'])
    const { sandbox, sandboxWanted } = JSON.parse(shown.stdout) as Record<string, unknown>
    assert.equal(sandboxWanted, 'prefer')
    const found = await findBubblewrap()
    assert.equal(sandbox, 'path' in found ? 'bubblewrap' : 'none')
    assert.equal(said.includes('Warning: weather runs without a sandbox: '), 'missing' in found)
    assert.match(
      (await shop.run(['server', 'show', 'weather'])).stdout,
      /sandbox +(?:bubblewrap \(prefer\)|none \(bubblewrap )/,
    )
  } finally {
    child.kill()
    await once(child, 'exit')
  }
})

test('a gateway in the foreground says where it is, and ends cleanly when it is asked to', async () => {
  using shop = withWeather()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = shop.start(['up', '--json'])
    const [line] = (await once(createInterface({ input: child.stdout }), 'line', {
      signal: AbortSignal.timeout(60_000),
    })) as [string]
    const { url, pid } = JSON.parse(line) as { url: string; pid: number }
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    assert.equal(pid, child.pid)
    child.kill(signal)
    const [code] = (await once(child, 'exit')) as [number]
    assert.equal(code, exits.done)
    assert.ok(!existsSync(join(shop.folder, '.countersign', 'gateway.lock')))
  }
})
