import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { doorwayTo } from '../conformance/doorway.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { openApproved, tokenOf } from '../hostile/attack.ts'

/** One client that people use, one way to connect it, and what it did. */
export interface ClientRow {
  readonly client: string
  readonly by: string
  /** The era in which it spoke to us. */
  readonly era: string
  readonly lists: string
  readonly calls: string
  /** What it made of a refusal. */
  readonly refused: string
}

const require = createRequire(import.meta.url)
const root = join(import.meta.dirname, '..', '..')
const launcher = join(root, 'bin', 'countersign.mjs')
const run = promisify(execFile)

function folderOf(name: string): string {
  return join(root, 'node_modules', name)
}

export function versionOf(name: string): string {
  return (require(join(folderOf(name), 'package.json')) as { version: string }).version
}

/** The file that a package's command starts. */
function commandOf(name: string, command: string): string {
  const { bin } = require(join(folderOf(name), 'package.json')) as { bin: string | Record<string, string> }
  return join(folderOf(name), typeof bin === 'string' ? bin : bin[command]!)
}

function yaml(site: Site): string {
  return JSON.stringify({
    servers: {
      notes: {
        command: 'node',
        args: [fixture('honest'), '--effects', site.effects],
        tools: { echo: { effect: 'read', risk: 'low' }, add: { effect: 'read', risk: 'low' } },
      },
    },
    consent: { rules: [{ name: 'all pass', decision: 'allow' }] },
  })
}

interface Ground {
  readonly url: string
  readonly token: string
  readonly site: Site
  readonly stdio: readonly string[]
  /** The revision in the headers of the last request by HTTP. */
  readonly spoken: () => string
}

/** Every client against one gateway, one after the other. */
export async function measureClients(t: TestContext): Promise<readonly ClientRow[]> {
  const site = makeSite(t, yaml)
  const gateway = await openApproved(t, site)
  const token = tokenOf(site)
  const stdio = [launcher, 'stdio', '--config', site.config, '--home', site.home]
  let revision = ''
  const doorway = await doorwayTo(gateway.url, undefined, (seen) => (revision = seen))
  t.after(() => doorway.close())
  const ground: Ground = { url: doorway.url, token, site, stdio, spoken: () => revision }
  return [
    ...(await current(ground)),
    ...(await older(ground)),
    ...(await inspector(ground)),
    ...(await mcpRemote(ground)),
    ...(await mcporter(ground)),
  ]
}

const hello = { name: 'notes__echo', arguments: { text: 'hello' } }
const wrong = { name: 'notes__add', arguments: { a: 'one', b: 2 } }
const info = { name: 'a client', version: '1.0.0' }

/** What one of the official clients did, once it is connected. */
async function used(client: Client | OlderClient): Promise<Pick<ClientRow, 'lists' | 'calls' | 'refused'>> {
  // The two families have the same methods with types that do not know each other.
  const one = client as Client
  const { tools } = await one.listTools()
  const echoed = await one.callTool(hello)
  const refused = await one.callTool(wrong)
  await one.close()
  return {
    lists: tools.some(({ name }) => name === hello.name) ? 'yes' : 'no',
    calls: JSON.stringify(echoed.content).includes('hello') ? 'yes' : 'no',
    refused: refused.isError === true && JSON.stringify(refused).includes('ARGUMENTS_INVALID') ? 'shown' : 'lost',
  }
}

async function current({ url, token, stdio }: Ground): Promise<readonly ClientRow[]> {
  const rows: ClientRow[] = []
  for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }] as const) {
    const ways = {
      'Streamable HTTP': new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
      stdio: new StdioClientTransport({ command: process.execPath, args: [...stdio], stderr: 'ignore' }),
    }
    for (const [by, transport] of Object.entries(ways)) {
      const client = new Client(info, { versionNegotiation: { mode } })
      await client.connect(transport)
      const era = client.getNegotiatedProtocolVersion() ?? 'none'
      const name = `TypeScript SDK ${versionOf('@modelcontextprotocol/client')}, ${typeof mode === 'string' ? mode : 'modern'}`
      rows.push({ client: name, by, era, ...(await used(client)) })
    }
  }
  return rows
}

async function older({ url, token, stdio }: Ground): Promise<readonly ClientRow[]> {
  const name = `TypeScript SDK ${versionOf('@modelcontextprotocol/sdk')}`
  const http = new OlderHttp(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } })
  const byHttp = new OlderClient(info)
  await byHttp.connect(http as never)
  const byStdio = new OlderClient(info)
  await byStdio.connect(new OlderStdio({ command: process.execPath, args: [...stdio], stderr: 'ignore' }) as never)
  return [
    { client: name, by: 'Streamable HTTP', era: http.protocolVersion ?? 'none', ...(await used(byHttp)) },
    { client: name, by: 'stdio', era: '2025-11-25', ...(await used(byStdio)) },
  ]
}

/** Standard output and error of a command, whatever it exits with. */
async function said(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { timeout: 60_000, env: { ...process.env, ...env } }
  const done = await run(process.execPath, [command, ...args], options).catch(
    (fault: unknown) => fault as { stdout?: string; stderr?: string },
  )
  return `${done.stdout ?? ''}\n${done.stderr ?? ''}`
}

async function inspector({ url, token, site, spoken }: Ground): Promise<readonly ClientRow[]> {
  const command = commandOf('@modelcontextprotocol/inspector', 'mcp-inspector')
  const name = `Inspector ${versionOf('@modelcontextprotocol/inspector')} (CLI)`
  const call = ['--method', 'tools/call', '--tool-name', hello.name, '--tool-arg', 'text=hello']
  const bad = ['--method', 'tools/call', '--tool-name', wrong.name, '--tool-arg', 'a=one', '--tool-arg', 'b=2']
  // It has a --config of its own, so the gateway's is named by the environment.
  const env = ['-e', `COUNTERSIGN_CONFIG=${site.config}`, '-e', `COUNTERSIGN_HOME=${site.home}`]
  const http = (era: string): string[] => [
    '--cli',
    url,
    '--transport',
    'http',
    '--header',
    `Authorization: Bearer ${token}`,
    '--protocol-era',
    era,
  ]
  const ways: readonly (readonly [string, string, readonly string[]])[] = [
    ['stdio', '2025-11-25', ['--cli', ...env, process.execPath, launcher, 'stdio']],
    ['Streamable HTTP', '2025-11-25', http('legacy')],
    ['Streamable HTTP', '2026-07-28', http('modern')],
  ]
  const rows: ClientRow[] = []
  for (const [by, era, args] of ways) {
    const listed = await said(command, [...args, '--method', 'tools/list'])
    rows.push({
      client: name,
      by,
      era: by === 'stdio' ? era : spoken(),
      lists: listed.includes(hello.name) ? 'yes' : 'no',
      calls: (await said(command, [...args, ...call])).includes('"hello"') ? 'yes' : 'no',
      refused: (await said(command, [...args, ...bad])).includes('ARGUMENTS_INVALID') ? 'shown' : 'lost',
    })
  }
  return rows
}

/** A bridge: a client on its standard input, we by Streamable HTTP behind it. */
async function mcpRemote({ url, token, site, spoken }: Ground): Promise<readonly ClientRow[]> {
  const args = [commandOf('mcp-remote', 'mcp-remote'), url, '--allow-http', '--header', 'Authorization:${AUTH}']
  const env = { PATH: process.env['PATH']!, HOME: site.folder, AUTH: `Bearer ${token}` }
  const client = new OlderClient(info)
  await client.connect(new OlderStdio({ command: process.execPath, args, env, stderr: 'ignore' }) as never)
  const name = `mcp-remote ${versionOf('mcp-remote')}`
  const did = await used(client)
  return [{ client: name, by: 'stdio, and Streamable HTTP from there', era: spoken(), ...did }]
}

async function mcporter({ url, token, site, spoken }: Ground): Promise<readonly ClientRow[]> {
  const command = commandOf('mcporter', 'mcporter')
  const config = join(site.folder, 'mcporter.json')
  const countersign = { baseUrl: url, headers: { Authorization: `Bearer ${token}` } }
  writeFileSync(config, JSON.stringify({ mcpServers: { countersign } }))
  const env = { HOME: site.folder }
  const tell = (...args: string[]): Promise<string> => said(command, ['--config', config, ...args], env)
  const listed = await tell('list', 'countersign', '--schema')
  return [
    {
      client: `mcporter ${versionOf('mcporter')}`,
      by: 'Streamable HTTP',
      era: spoken(),
      lists: listed.includes(hello.name) ? 'yes' : 'no',
      calls: (await tell('call', `countersign.${hello.name}`, 'text=hello')).includes('hello') ? 'yes' : 'no',
      refused: (await tell('call', `countersign.${wrong.name}`, 'a=one', 'b=2')).includes('ARGUMENTS_INVALID')
        ? 'shown'
        : 'lost',
    },
  ]
}
