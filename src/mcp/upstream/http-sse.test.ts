import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { hold, negotiatedBy, permitFor, sending, soon, textOf } from '../../../test/fixtures/servers/reach.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function listening(t: TestContext, handle: Handler): Promise<{ url: string; seen: string[]; drop: () => void }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url?.split('?')[0]}`)
    handle(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
  return { url, seen, drop: () => server.closeAllConnections() }
}

/** The official server of the first family, as it was run until Streamable HTTP came. */
function official(t: TestContext) {
  const open = new Map<string, SSEServerTransport>()
  return listening(t, (request, response): void => {
    const { pathname, searchParams } = new URL(request.url!, 'http://127.0.0.1')
    if (request.method === 'GET' && pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response)
      open.set(transport.sessionId, transport)
      return void serverOf().connect(transport as never)
    }
    const transport = pathname === '/messages' ? open.get(searchParams.get('sessionId') ?? '') : undefined
    if (transport === undefined) response.writeHead(404).end()
    else void transport.handlePostMessage(request, response)
  })
}

function serverOf(): Server {
  const capabilities = { tools: {}, logging: {}, resources: { subscribe: true } }
  const server = new Server({ name: 'older', version: '1' }, { capabilities })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'echo', inputSchema: { type: 'object' as const } }],
  }))
  server.setRequestHandler(SubscribeRequestSchema, async ({ params }) => {
    setImmediate(() => void server.sendResourceUpdated({ uri: params.uri }))
    return {}
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    const progressToken = params._meta?.progressToken
    if (progressToken !== undefined) {
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    }
    await server.sendLoggingMessage({ level: 'info', data: 'heard' })
    return { content: [{ type: 'text', text: String(params.arguments?.['text']) }] }
  })
  return server
}

function to(url: string) {
  return hold({ kind: 'http', url, headers: {} }, {}, { pauses: { firstMs: 10, mostMs: 20 } })
}

test('a server that has only HTTP+SSE is found, called and heard, and remembered when its stream breaks', async (t) => {
  const { url, seen, drop } = await official(t)
  await using upstream = to(url)
  await upstream.settled
  const { transport, era, serverInfo } = negotiatedBy(upstream)
  assert.deepEqual([transport, era, serverInfo['name']], ['sse', 'legacy', 'older'])
  assert.equal((await upstream.list('tools/list', soon())).length, 1)

  const progress: unknown[] = []
  const logs: unknown[] = []
  const outcome = await upstream.send(permitFor('echo', { text: 'Grüße' }), {
    ...sending(),
    onProgress: (told) => void progress.push(told['progress']),
    logs: { level: 'debug', hear: (message) => void logs.push(message['data']) },
  })
  assert.deepEqual([textOf(outcome), progress, logs], ['Grüße', [1], ['heard']])
  const updated = Promise.withResolvers<string>()
  assert.ok(await upstream.watchResource('note://x', updated.resolve))
  assert.equal(await updated.promise, 'note://x')

  seen.length = 0
  const again = new Promise<void>((resolve) => upstream.onState(({ kind }) => void (kind === 'ready' && resolve())))
  drop()
  await again
  assert.equal(negotiatedBy(upstream).transport, 'sse')
  assert.ok(!seen.includes('POST /sse'), 'the older way is tried first')
  assert.equal(textOf(await upstream.send(permitFor('echo', { text: 'again' }), sending())), 'again')
})

test('nothing is posted to an endpoint of another origin', async (t) => {
  const other = await listening(t, (_request, response) => void response.writeHead(202).end())
  for (const endpoint of [other.url, 'https://example.org/messages', '//example.org/', 'http://u:p@127.0.0.1/']) {
    const { url } = await listening(t, (request, response): void => {
      if (request.method !== 'GET') return void response.writeHead(405).end()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`event: endpoint\ndata: ${endpoint}\n\n`)
    })
    await using upstream = to(url)
    await upstream.settled
    assert.ok(upstream.state.kind === 'down', endpoint)
    assert.match(upstream.state.why, /not of its own origin/)
  }
  assert.deepEqual(other.seen, [])
})

test('a call whose POST is turned away is not answered, and the others do not notice', async (t) => {
  let stream: ServerResponse | undefined
  const { url } = await listening(t, (request, response): void => {
    if (request.url === '/sse' && request.method === 'POST') return void response.writeHead(404).end()
    if (request.method === 'GET') {
      stream = response
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.write('event: endpoint\ndata: post\n\n')
    }
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', (): void => {
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: { name?: string } }
      if (params?.name === 'turned-away') return void response.writeHead(500).end()
      response.writeHead(202).end()
      const result =
        method === 'initialize'
          ? { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: {} }
          : { content: [{ type: 'text', text: 'here' }] }
      if (id !== undefined) stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    })
  })
  await using upstream = to(url)
  await upstream.settled
  assert.equal(negotiatedBy(upstream).revision, '2024-11-05')
  const [away, here] = await Promise.all([
    upstream.send(permitFor('turned-away'), sending()),
    upstream.send(permitFor('other'), sending()),
  ])
  assert.deepEqual(away, { kind: 'no-answer', why: 'status', detail: 'HTTP 500' })
  assert.equal(textOf(here), 'here')
})

test('an address where nothing of MCP is says so of both ways', async (t) => {
  const { url } = await listening(t, (_request, response) => void response.writeHead(404).end())
  await using upstream = to(url)
  await upstream.settled
  assert.ok(upstream.state.kind === 'down')
  assert.match(upstream.state.why, /HTTP 404.*by HTTP\+SSE: HTTP 404/)
})
