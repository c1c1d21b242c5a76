import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { approveAll, approveOffered, fixture, makeSite, openGateway, type Site } from '../fixtures/site.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const launcher = join(root, 'bin', 'countersign.mjs')
const inspector = join(root, 'node_modules', '.bin', 'mcp-inspector')

function yaml({ effects }: Site): string {
  return `
servers:
  notes:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    resources: allow
    prompts: allow
    tools:
      echo: { effect: read, risk: low }
      add: { effect: read, risk: low }
      write_note: { effect: once, risk: low }
consent: { rules: [{ name: all pass, decision: allow }] }
`
}

async function open(t: TestContext): Promise<{ gateway: RunningGateway; site: Site; token: string; stdio: string[] }> {
  const site = makeSite(t, yaml)
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const token = readFileSync(join(site.home, 'token'), 'utf8').trim()
  return { gateway, site, token, stdio: [launcher, 'stdio', '--config', site.config, '--home', site.home] }
}

const info = { name: 'a client', version: '1.0.0' }

for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }] as const) {
  const name = typeof mode === 'string' ? mode : mode.pin
  test(`the current SDK's client, ${name}, lists, calls, reads and gets, by HTTP and by stdio`, async (t) => {
    const { gateway, token, stdio } = await open(t)
    const transports = [
      new StreamableHTTPClientTransport(new URL(gateway.url), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
      new StdioClientTransport({ command: process.execPath, args: stdio, stderr: 'ignore' }),
    ]
    for (const transport of transports) {
      const client = new Client(info, { versionNegotiation: { mode } })
      await client.connect(transport)
      const { tools } = await client.listTools()
      assert.ok(tools.some((tool) => tool.name === 'notes__echo'))
      const echoed = await client.callTool({ name: 'notes__echo', arguments: { text: 'hello' } })
      assert.deepEqual(echoed.content, [{ type: 'text', text: 'hello' }])
      assert.notEqual(echoed.isError, true)
      const refused = await client.callTool({ name: 'notes__add', arguments: { a: 'one', b: 2 } })
      assert.equal(refused.isError, true)
      assert.match(JSON.stringify(refused.content), /ARGUMENTS_INVALID/)
      await assert.rejects(client.callTool({ name: 'notes__nothing', arguments: {} }))
      const { resources } = await client.listResources()
      assert.deepEqual(
        resources.map(({ uri }) => uri),
        ['note://hello'],
      )
      const read = await client.readResource({ uri: 'note://hello' })
      assert.match(JSON.stringify(read.contents), /hello/)
      const { prompts } = await client.listPrompts()
      assert.equal(prompts.length, 1)
      const got = await client.getPrompt({ name: prompts[0]!.name, arguments: { who: 'Ana' } })
      assert.match(JSON.stringify(got.messages), /Greet Ana/)
      await client.close()
    }
  })
}

test("the older SDK's client lists and calls, by HTTP and by stdio", async (t) => {
  const { gateway, token, stdio } = await open(t)
  const transports = [
    new OlderHttp(new URL(gateway.url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    new OlderStdio({ command: process.execPath, args: stdio, stderr: 'ignore' }),
  ]
  for (const transport of transports) {
    const client = new OlderClient(info)
    await client.connect(transport as Parameters<typeof client.connect>[0])
    assert.ok((await client.listTools()).tools.some((tool) => tool.name === 'notes__echo'))
    const echoed = await client.callTool({ name: 'notes__echo', arguments: { text: 'hello' } })
    assert.deepEqual(echoed.content, [{ type: 'text', text: 'hello' }])
    await client.close()
  }
})

test('the MCP Inspector lists and calls, by stdio and by HTTP', async (t) => {
  const { gateway, site, token } = await open(t)
  // The Inspector has a --config of its own, so the gateway's is named by the environment.
  const env = ['-e', `COUNTERSIGN_CONFIG=${site.config}`, '-e', `COUNTERSIGN_HOME=${site.home}`]
  const byStdio = ['--cli', ...env, process.execPath, launcher, 'stdio']
  const inspect = (...args: string[]): Promise<{ stdout: string }> => run(inspector, args, { timeout: 30_000 })
  assert.match((await inspect(...byStdio, '--method', 'tools/list')).stdout, /notes__echo/)
  const call = ['--method', 'tools/call', '--tool-name', 'notes__echo', '--tool-arg', 'text=hello']
  assert.match((await inspect(...byStdio, ...call)).stdout, /"hello"/)
  const http = ['--cli', gateway.url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`]
  assert.match((await inspect(...http, '--method', 'tools/list')).stdout, /notes__echo/)
})

test('two clients that each spawn `countersign stdio` share one gateway and one ledger', async (t) => {
  const site = makeSite(t, yaml)
  await approveAll(site)
  const spawned = [0, 1].map(() =>
    spawn(process.execPath, [launcher, 'stdio', '--config', site.config, '--home', site.home], {
      stdio: ['pipe', 'pipe', 'ignore'],
    }),
  )
  t.after(async () => {
    for (const child of spawned) child.kill()
    await run(process.execPath, [launcher, 'stop', '--config', site.config, '--home', site.home]).catch(() => {})
  })
  const answers = await Promise.all(
    spawned.map(async (child, n) => {
      const say = (message: object): void =>
        void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info }
      say({ id: 0, method: 'initialize', params: hello })
      say({ method: 'notifications/initialized' })
      const params = { name: 'notes__write_note', arguments: { name: `note ${n}`, text: 'x' } }
      say({ id: 1, method: 'tools/call', params })
      let text = ''
      const late = AbortSignal.timeout(20_000)
      while (!text.includes('"id":1')) text += String((await once(child.stdout, 'data', { signal: late }))[0])
      return text
    }),
  )
  for (const text of answers) assert.match(text, /written/)
  const { stdout } = await run(process.execPath, [
    launcher,
    'operation',
    'list',
    '--json',
    '--config',
    site.config,
    '--home',
    site.home,
  ])
  assert.equal((JSON.parse(stdout) as { operations: unknown[] }).operations.length, 2)
  assert.equal(readFileSync(site.effects, 'utf8').split('\n').filter(Boolean).length, 2)
})
