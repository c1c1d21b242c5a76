import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { fixture, makeSite, openGateway, approveOffered } from '../fixtures/site.ts'
import { onHttp } from '../fixtures/servers/reach.ts'

// Both eras below, both above, by pipe and by HTTP: what one hop says the other hears.

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'countersign.mjs')
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
const profiles = ['talk', 'wait', 'heard', 'rich', 'broken', 'touch']
  .map((name) => `      ${name}: { effect: read, risk: low }`)
  .join('\n')

async function until(check: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!check()) {
    if (Date.now() > deadline) assert.fail(`never: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function open(t: TestContext, era: string, transport: 'stdio' | 'http') {
  const args = ['--era', era]
  let url = ''
  const site = makeSite(t, ({ effects }) => {
    const reach =
      transport === 'stdio'
        ? `command: node\n    args: [${[fixture('talkative'), ...args, '--effects', effects].join(', ')}]`
        : `url: URL`
    return `servers:\n  far:\n    ${reach}\n    resources: allow\n    prompts: allow\n    tools:\n${profiles}\nconsent: { rules: [{ name: all pass, decision: allow }] }\n`
  })
  if (transport === 'http') {
    const running = await onHttp('talkative', ...args, '--answers', 'sse', '--effects', site.effects)
    t.after(() => running[Symbol.asyncDispose]())
    url = running.reach.url
    writeFileSync(site.config, readFileSync(site.config, 'utf8').replace('URL', url))
  }
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const token = readFileSync(join(site.home, 'token'), 'utf8').trim()
  const effects = (): string[] => {
    try {
      return readFileSync(site.effects, 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }
  const doors = {
    http: () =>
      new StreamableHTTPClientTransport(new URL(gateway.url), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    stdio: () =>
      new StdioClientTransport({
        command: process.execPath,
        args: [launcher, 'stdio', '--config', site.config, '--home', site.home],
        stderr: 'ignore',
      }),
  }
  return { gateway, doors, effects, token }
}

interface Heard {
  readonly logs: { level: string; logger?: string }[]
  readonly updated: string[]
}

async function connect(t: TestContext, era: 'legacy' | 'modern', transport: unknown): Promise<[Client, Heard]> {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' }
  const client = new Client({ name: 'square', version: '1' }, { versionNegotiation: { mode } as never })
  const heard: Heard = { logs: [], updated: [] }
  client.setNotificationHandler('notifications/message', ({ params }) => void heard.logs.push(params as never))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.updated.push(params.uri))
  await client.connect(transport as never)
  t.after(() => client.close())
  return [client, heard]
}

async function callHearing(client: Client, era: string, level: string): Promise<number[]> {
  const progress: number[] = []
  const _meta = era === 'modern' ? { [LOG_LEVEL]: level } : {}
  const result = await client.callTool(
    { name: 'far__talk', arguments: {}, _meta },
    { onprogress: ({ progress: n }) => void progress.push(n) },
  )
  assert.match(JSON.stringify(result.content), /talked/)
  return progress
}

for (const far of ['legacy', 'modern'] as const) {
  for (const up of ['stdio', 'http'] as const) {
    test(`a ${far} server by ${up}, and clients of both eras by both ways`, async (t) => {
      const { doors, effects, gateway } = await open(t, far, up)
      // The record is written behind the start.
      const recorded = () =>
        gateway.core.open
          .records({ limit: 1_000 })
          .map((line) => JSON.parse(line) as { kind: string; facts: Record<string, unknown> })
          .filter(({ kind }) => kind === 'upstream.connected')
      const until = Date.now() + 20_000
      while (recorded().length === 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
      const connected = recorded()
      assert.deepEqual(
        [connected[0]?.facts['server'], connected[0]?.facts['transport'], connected[0]?.facts['revision']],
        ['far', up, far === 'legacy' ? '2025-11-25' : '2026-07-28'],
      )
      for (const near of ['legacy', 'modern'] as const) {
        for (const down of ['http', 'stdio'] as const) {
          await t.test(`${near} client by ${down}`, async (t) => {
            const [client, heard] = await connect(t, near, doors[down]())
            assert.equal(client.getProtocolEra(), near)
            await completes(client)
            await logs(client, near, heard, down)
            await keeps(client, near)
            await traces(client)
            await watches(client, near, heard, effects)
            await cancels(client, effects)
          })
        }
      }
    })
  }
}

for (const far of ['legacy', 'modern'] as const) {
  test(`what a ${far} server says that no client knows is passed on as it is`, async (t) => {
    const { gateway, token } = await open(t, far, 'http')
    const result = await raw(gateway.url, token, 'tools/call', { name: 'far__rich', arguments: {} })
    const content = result['content'] as readonly { type: string }[]
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'image', 'audio', 'resource_link', 'resource', 'hologram'],
    )
    assert.deepEqual(content[0], { type: 'text', text: 'a', annotations: { priority: 0.5 }, futureField: 1 })
    assert.deepEqual(content[5], { type: 'hologram', light: [1, 2, 3] })
    assert.deepEqual(result['structuredContent'], { big: 1.5, list: [null, true] })
    assert.deepEqual(result['futureField'], { kept: true })
    const meta = result['_meta'] as Record<string, unknown>
    assert.equal(meta['example.org/kept'], 'yes')
    assert.deepEqual((meta['io.modelcontextprotocol/serverInfo'] as { name: string }).name, 'countersign')

    const { tools } = (await raw(gateway.url, token, 'tools/list', {})) as { tools: Record<string, unknown>[] }
    const rich = tools.find(({ name }) => name === 'far__rich')
    assert.deepEqual([rich?.['futureField'], rich?.['icons']], [{ kept: true }, [{ src: 'data:,' }]])
  })
}

async function raw(url: string, token: string, method: string, params: Record<string, unknown>) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method, params: { ...params, _meta } }),
  })
  return ((await answer.json()) as { result: Record<string, unknown> }).result
}

async function completes(client: Client): Promise<void> {
  const argument = { name: 'who', value: 'A' }
  const prompt = await client.complete({ ref: { type: 'ref/prompt', name: 'far__greet' }, argument })
  assert.deepEqual(prompt.completion.values, ['A!', '{"type":"ref/prompt","name":"greet"}'])
  const template = await client.complete({ ref: { type: 'ref/resource', uri: 'note://{name}' }, argument })
  assert.equal(template.completion.total, 2)
  await assert.rejects(client.complete({ ref: { type: 'ref/prompt', name: 'far__none' }, argument }), { code: -32602 })
  await assert.rejects(client.complete({ ref: { type: 'ref/resource', uri: 'else://{x}' }, argument }), {
    code: -32602,
  })
}

async function logs(client: Client, near: 'legacy' | 'modern', heard: Heard, down: string): Promise<void> {
  const progress = await callHearing(client, near, 'error')
  // By stdio the client itself may drop what comes just before the answer (modelcontextprotocol/typescript-sdk#2580).
  assert.deepEqual(progress, down === 'http' ? [0, 50, 100] : [0, 50, 100].slice(0, progress.length))
  if (near === 'legacy') await until(() => heard.logs.length === 2, 'info and error, where nothing was said')
  else await until(() => heard.logs.length === 1, 'error alone, since that was asked for')
  heard.logs.length = 0
  if (near === 'legacy') await client.setLoggingLevel('debug')
  await callHearing(client, near, 'debug')
  await until(() => heard.logs.length === 3, 'all levels')
  assert.deepEqual(
    heard.logs.map(({ level }) => level),
    ['debug', 'info', 'error'],
  )
  heard.logs.length = 0
  if (near === 'legacy') return client.setLoggingLevel('emergency').then(() => {})
  await client.callTool({ name: 'far__talk', arguments: {} })
  assert.deepEqual(heard.logs, [], 'who does not ask hears nothing')
}

async function keeps(client: Client, near: string): Promise<void> {
  const { tools } = await client.listTools()
  const rich = tools.find(({ name }) => name === 'far__rich')
  assert.deepEqual([rich?.annotations, rich?.icons?.[0]?.src], [{ readOnlyHint: true }, 'data:,'])
  const result = await client.callTool({ name: 'far__broken', arguments: {} })
  assert.equal(result.isError, true, 'an error needs no structured content')
  assert.equal((await client.readResource({ uri: 'note://hello' })).contents.length, 1)
  assert.equal((await client.getPrompt({ name: 'far__greet', arguments: { who: 'Ann' } })).messages.length, 0)
  assert.ok(near)
}

async function traces(client: Client): Promise<void> {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const _meta = { traceparent, tracestate: 'a=1', baggage: 'user=ann', 'example.org/secret': 'no' }
  const result = await client.callTool({ name: 'far__heard', arguments: {}, _meta })
  const meta = JSON.parse((result.content as unknown as [{ text: string }])[0].text) as Record<string, unknown>
  assert.deepEqual([meta['traceparent'], meta['tracestate'], meta['baggage']], [traceparent, 'a=1', 'user=ann'])
  assert.equal(meta['example.org/secret'], undefined, 'nothing else of a caller goes on')
}

async function watches(client: Client, near: string, heard: Heard, effects: () => string[]): Promise<void> {
  const subscribed = () => effects().filter((line) => line === 'subscribe note://hello').length
  const before = subscribed()
  let stop: () => Promise<unknown>
  if (near === 'legacy') {
    await client.subscribeResource({ uri: 'note://hello' })
    await client.subscribeResource({ uri: 'note://hello' })
    stop = () => client.unsubscribeResource({ uri: 'note://hello' })
    await assert.rejects(client.subscribeResource({ uri: 'nowhere://x' }))
  } else {
    const subscription = await client.listen({ resourceSubscriptions: ['note://hello', 'nowhere://x'] })
    stop = () => subscription.close()
  }
  await until(() => {
    client.callTool({ name: 'far__touch', arguments: { uri: 'note://hello' } }).catch(() => {})
    return heard.updated.includes('note://hello')
  }, 'the resource changed')
  assert.ok(subscribed() - before <= 1, 'one subscription for all')
  await stop()
}

async function cancels(client: Client, effects: () => string[]): Promise<void> {
  const left = () => effects().filter((line) => line === 'cancelled' || line === 'closed').length
  const waiting = () => effects().filter((line) => line === 'waiting').length
  const [before, waited] = [left(), waiting()]
  const controller = new AbortController()
  const call = client.callTool({ name: 'far__wait', arguments: {} }, { signal: controller.signal })
  call.catch(() => {})
  await until(() => waiting() > waited, 'the call is there')
  controller.abort()
  await until(() => left() > before, 'the server heard of the cancel')
  await assert.rejects(call)
}
