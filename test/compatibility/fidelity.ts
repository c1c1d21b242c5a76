import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { adorned, pages } from '../fixtures/servers/probe.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { openApproved, tokenOf, until } from '../hostile/attack.ts'

/** One thing that a relay can lose, and what was found of it. */
export interface Row {
  readonly probe: string
  readonly wanted: string
  readonly found: string
}

const BEA = 'a-token-that-is-long-enough-for-bea'

export function probeLog({ folder }: Site): string {
  return join(folder, 'probe.log')
}

export function probeYaml(site: Site): string {
  writeFileSync(join(site.folder, 'bea'), BEA, { mode: 0o600 })
  return JSON.stringify({
    principals: [{ id: 'bea', tenant: 'acme', tokenFile: './bea' }],
    servers: {
      probe: {
        command: 'node',
        args: [fixture('probe'), '--log', probeLog(site)],
        asks: { elicitation: ['form'] },
        tools: Object.fromEntries(
          (pages.flat() as readonly { name: string }[]).map(({ name }) => [
            name,
            { repeat: 'allow', risk: 'low', maxResultBytes: '8MiB', ...(name === 'wait' && { cancel: 'clean' }) },
          ]),
        ),
      },
      other: { command: 'node', args: [fixture('honest'), '--effects', site.effects] },
    },
    limits: { resultBytes: '8MiB' },
    catalogue: { refresh: '1h' },
    consent: { rules: [{ name: 'all pass', decision: 'allow' }] },
  })
}

interface Caller {
  readonly client: Client
  changes: number
  say(name: string, options?: Parameters<Client['callTool']>[1]): Promise<string>
}

const answerOf = (result: Awaited<ReturnType<Client['callTool']>>): string => {
  const [first] = result.content
  return first?.type === 'text' ? first.text : JSON.stringify(result)
}

/** Runs every probe of the table against a gateway in this process, in the order of the table. */
export async function measureFidelity(t: TestContext, mode: 'legacy' | '2026-07-28'): Promise<readonly Row[]> {
  const site = makeSite(t, probeYaml)
  const gateway = await openApproved(t, site)
  const connect = async (token: string): Promise<Caller> => {
    const client = new Client(
      { name: 'probing', version: '1' },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: mode } },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void caller.changes++ } },
      },
    )
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { colour: 'green' } }))
    const caller: Caller = {
      client,
      changes: 0,
      say: async (name, options) => answerOf(await client.callTool({ name: `probe__${name}`, arguments: {} }, options)),
    }
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit }))
    t.after(() => client.close())
    return caller
  }
  const [a, b] = [await connect(tokenOf(site)), await connect(BEA)]
  const log = (): string => readFileSync(probeLog(site), 'utf8')
  const rows: Row[] = []
  const row = async (probe: string, wanted: string, find: () => Promise<string>): Promise<void> => {
    const found = await find().catch((fault: unknown) => `fault: ${String(fault)}`)
    rows.push({ probe, wanted, found })
  }

  await row('Tools seen of 11, in two pages', '11', async () => {
    const { tools } = await a.client.listTools()
    return String(tools.filter(({ name }) => name.startsWith('probe__')).length)
  })
  await row('Call of a tool of the second page', 'ok', async () => ((await a.say('count')) === '1' ? 'ok' : 'lost'))
  await row('Annotations, `$defs`, icons, `_meta` and unknown members of tools', 'kept', async () => {
    // As it comes over the wire: the client drops members that it does not know.
    const shown = JSON.parse(await rawList(gateway.url, tokenOf(site))) as { name: string }[]
    assert.deepEqual(
      shown.find(({ name }) => name === 'probe__adorned'),
      { ...adorned, name: 'probe__adorned' },
    )
    return 'kept'
  })
  await row('Error result of a tool with an output schema', 'ok', async () => {
    const result = await a.client.callTool({ name: 'probe__strict', arguments: {} })
    return result.isError === true && answerOf(result) === 'It failed.' ? 'ok' : answerOf(result)
  })
  await row('`_meta` of the caller', 'rebuilt, its trace with it', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const _meta = { traceparent, 'example.org/secret': 'mine' }
    const seen = answerOf(await a.client.callTool({ name: 'probe__meta', arguments: {}, _meta }))
    if (seen.includes('mine')) return 'passed on'
    return seen.includes('0af7651916cd43dd8448eb211c80319c') ? 'rebuilt, its trace with it' : `rebuilt: ${seen}`
  })
  await row('Progress events of a call that tells of six', '6', async () => {
    let events = 0
    await a.say('progress', { onprogress: () => void events++ })
    return String(events)
  })
  await row('Cancel seen by the server (`cancel: clean`)', '1', async () => {
    const leaving = new AbortController()
    const waits = a.say('wait', { signal: leaving.signal }).catch(() => 'left')
    await until('the call waits', () => log().includes('waits'))
    leaving.abort()
    await waits
    await until('the cancel arrived', () => log().includes('cancelled'))
    return String(log().split('cancelled').length - 1)
  })
  await row('A result of 5 MiB', 'ok', async () => ((await a.say('large')).length === 5 << 20 ? 'ok' : 'lost'))
  await row('Counter of callers A, A, B', '1, 2, 1', async () => {
    const first = Number(await a.say('count')) - 1
    return [1, Number(await a.say('count')) - first, Number(await b.say('count'))].join(', ')
  })
  await row('Elicitation back to the caller, and to no other', 'ok', async () => {
    const answer = await a.say('ask')
    return answer === 'accept: green' ? 'ok' : answer
  })
  await row('A changed list is told to the caller', 'ok', async () => {
    const listening = mode === 'legacy' ? undefined : await a.client.listen({ toolsListChanged: true })
    const before = a.changes
    await a.say('change')
    await until('A heard of it', () => a.changes > before)
    await a.say('change')
    await until('the tool is back', async () => {
      const { tools } = await a.client.listTools()
      return tools.some(({ name }) => name === 'probe__large')
    })
    await listening?.close()
    return 'ok'
  })
  await row('Unknown tool', '-32602', async () =>
    a.client.callTool({ name: 'probe__nothing', arguments: {} }).then(
      () => 'an answer',
      (fault: { code?: unknown }) => String(fault.code),
    ),
  )
  await row('After the server ended: the same session, a new client', 'works, works', async () => {
    const ended = processesOf(site).length
    await a.say('exit')
    await until('it was started again', () => processesOf(site).length >= ended + 2)
    await until('it answers', async () => (await a.say('echo').catch(() => '')) === 'echo')
    return (await (await connect(tokenOf(site))).say('echo')) === 'echo' ? 'works, works' : 'works, dead'
  })
  await row('Another upstream meanwhile', 'works', async () => {
    const result = await a.client.callTool({ name: 'other__echo', arguments: { text: 'here' } })
    return answerOf(result) === 'here' ? 'works' : answerOf(result)
  })
  return rows
}

/** The pids that the probe has noted, each with its grandchild's. */
export function processesOf(site: Site): readonly number[] {
  if (!existsSync(probeLog(site))) return []
  return [...readFileSync(probeLog(site), 'utf8').matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid))
}

async function rawList(url: string, token: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } })
  const response = await fetch(url, { method: 'POST', headers, body })
  const { result } = (await response.json()) as { result: { tools: unknown } }
  return JSON.stringify(result.tools)
}
