import assert from 'node:assert/strict'
import test from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { served, until } from './asking.test.ts'
import { servedPipe } from './pipes.test.ts'
import { refused } from './refused.ts'
import { type StandIn, answered, definition, said } from './stand-in.test.ts'

const requestInit = { headers: { authorization: 'Bearer alice' } }
const modes = ['legacy', 'auto', { pin: '2026-07-28' }] as const

/** What a process in front of the gateway's socket does: it carries bytes. */
function bridge(path: string) {
  const code = `const s = require('node:net').connect(${JSON.stringify(path)}); process.stdin.pipe(s); s.pipe(process.stdout)`
  return { command: process.execPath, args: ['-e', code] }
}

function outfit(ports: StandIn): void {
  ports.lists.tools = Buffer.from(
    JSON.stringify([{ ...definition('echo__say'), outputSchema: { type: 'object' } }, definition('files__delete')]),
  )
  ports.tools.set('echo__say', async () =>
    answered({ content: [{ type: 'text', text: 'hi' }], structuredContent: { a: 1 } }),
  )
  ports.tools.set('echo__hello', async () =>
    answered({ messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] }),
  )
  ports.tools.set('learning://rules', async () =>
    answered({ contents: [{ uri: 'learning://rules', text: 'be kind' }] }),
  )
  ports.tools.set('denied', async () => refused('POLICY_DENIED'))
  ports.tools.set('unknown', async () => ({ kind: 'unknown', operation: 'op_1', why: 'closed', steps: [] }))
  ports.tools.set('files__delete', async (_request, caller, signal) => {
    if (ports.granted.size > 0) return said('deleted')
    if (caller.consent === 'defer') return { kind: 'asked', approval: ports.approval(), steps: [] }
    return said((await caller.elicit!(ports.approval(), signal)) === 'accept' ? 'deleted' : 'kept')
  })
}

async function useAll(client: Client | ClientV1): Promise<void> {
  // The two families have the same methods with types that do not know each other.
  const one = client as Client
  assert.equal(one.getServerVersion()?.name, 'countersign')
  assert.equal(one.getInstructions(), 'Ask before you act.')
  const { tools } = await one.listTools()
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['echo__say', 'files__delete'],
  )
  const result = await one.callTool({ name: 'echo__say', arguments: { text: 'hi' } })
  assert.deepEqual(result.structuredContent, { a: 1 })
  assert.equal((await one.listPrompts()).prompts[0]?.name, 'echo__hello')
  assert.equal((await one.getPrompt({ name: 'echo__hello' })).messages.length, 1)
  assert.equal((await one.listResources()).resources[0]?.uri, 'learning://rules')
  assert.deepEqual((await one.listResourceTemplates()).resourceTemplates, [])
  const read = await one.readResource({ uri: 'learning://rules' })
  assert.deepEqual(read.contents, [{ uri: 'learning://rules', text: 'be kind' }])

  const denied = await one.callTool({ name: 'denied', arguments: {} })
  assert.equal(denied.isError, true)
  assert.match(JSON.stringify(denied), /POLICY_DENIED/)
  const unknown = await one.callTool({ name: 'unknown', arguments: {} })
  assert.match(JSON.stringify(unknown), /OUTCOME_UNKNOWN.*op_1/)
  await assert.rejects(one.callTool({ name: 'nobody__knows', arguments: {} }), { code: -32602 })
  await assert.rejects(one.readResource({ uri: 'nowhere://x' }))
}

for (const mode of modes) {
  const name = typeof mode === 'string' ? mode : 'pinned modern'
  const era = mode === 'legacy' ? 'legacy' : 'modern'

  const clientOf = () => {
    const client = new Client(
      { name: 'two', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
    )
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { decision: 'approve' } }))
    return client
  }

  test(`the client of the second family, ${name}, over HTTP`, async (t) => {
    const { url, ports } = await served(t)
    outfit(ports)
    const client = clientOf()
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
    assert.equal(client.getProtocolEra(), era)
    await useAll(client)
    assert.match(JSON.stringify(await client.callTool({ name: 'files__delete', arguments: {} })), /deleted/)
    await client.close()
    assert.deepEqual(ports.faults, [])
  })

  test(`the client of the second family, ${name}, over a pipe`, async (t) => {
    const { path, ports } = await servedPipe(t)
    outfit(ports)
    const client = clientOf()
    await client.connect(new StdioClientTransport(bridge(path)))
    assert.equal(client.getProtocolEra(), era)
    await useAll(client)
    assert.match(JSON.stringify(await client.callTool({ name: 'files__delete', arguments: {} })), /deleted/)
    await client.close()
    assert.deepEqual(ports.faults, [])
  })
}

test('the client of the first family, over HTTP and over a pipe', async (t) => {
  const http = await served(t)
  const pipe = await servedPipe(t)
  for (const [ports, transport] of [
    [http.ports, new HttpV1(new URL(http.url), { requestInit })],
    [pipe.ports, new StdioV1(bridge(pipe.path))],
  ] as const) {
    outfit(ports)
    const client = new ClientV1({ name: 'one', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { decision: 'approve' } }))
    let changes = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
    await client.connect(transport as never)
    await useAll(client)
    assert.match(JSON.stringify(await client.callTool({ name: 'files__delete', arguments: {} })), /deleted/)
    await until(() => {
      ports.changed('tools')
      return changes > 0
    }, 'the client heard that the tools changed')
    await client.close()
    assert.deepEqual(ports.faults, [])
  }
})

test('a modern client that listens hears of changed lists, and that it is over', async (t) => {
  const { url, ports, close } = await served(t, { coalesceMs: 5 })
  let changes = 0
  const client = new Client(
    { name: 'listener', version: '1' },
    {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changes++ } },
    },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  const subscription = await client.listen({ toolsListChanged: true })
  await until(() => {
    ports.changed('tools')
    return changes > 0
  }, 'the client heard that the tools changed')
  await subscription.close()
  await client.close()
  await close()
  assert.equal(ports.listeners, 0)
  assert.deepEqual(ports.faults, [])
})
