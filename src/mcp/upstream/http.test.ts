import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { JsonObject } from '../../words/json.ts'
import { Secret } from '../../words/secret.ts'
import { IDEMPOTENCY_KEY, implementation } from '../wire/envelope.ts'
import { ask } from './ask.ts'
import { openHttp } from './http.ts'
import { noStrays } from './link.ts'
import {
  connected,
  hold,
  next,
  onHttp,
  permitFor,
  sending,
  soon,
  textOf,
} from '../../../test/fixtures/servers/reach.ts'

interface Seen {
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
type Handler = (request: IncomingMessage, response: ServerResponse, message: JsonObject) => void

/** An endpoint that writes down all that it gets; it initializes as a legacy server does, with a session, and leaves the rest to `handle`. */
async function endpoint(handle: Handler): Promise<{ seen: Seen[]; url: string; server: Server } & AsyncDisposable> {
  const seen: Seen[] = []
  let sessions = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      seen.push({ method: request.method ?? '', headers: request.headers, body })
      const message = (body === '' ? {} : JSON.parse(body)) as JsonObject
      if (message['method'] === 'initialize') {
        const result = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: {} }
        const headers = { 'content-type': 'application/json', 'mcp-session-id': `session-${++sessions}` }
        response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], result }))
      } else if (request.method === 'POST' && message['id'] === undefined) response.writeHead(202).end()
      else handle(request, response, message)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?key=1`
  return {
    seen,
    url,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function reply(response: ServerResponse, message: JsonObject, said: string): void {
  const result = { content: [{ type: 'text', text: said }] }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], result }))
}

const legacy = { revisions: ['2025-11-25'] } as const

test('a legacy call is one POST with the agreed revision, the session and what the operator gave, and the session ends with us', async () => {
  await using server = await endpoint((request, response, message) => {
    if (request.method === 'POST') reply(response, message, 'yes')
    else response.writeHead(405).end()
  })
  const upstream = hold(
    { kind: 'http', url: server.url, headers: { Authorization: new Secret('Bearer s3cret') } },
    legacy,
  )
  await upstream.settled
  const permit = permitFor('echo', { b: '\u2028', a: 1 })
  assert.equal(textOf(await upstream.send(permit, sending())), 'yes')
  await upstream.close()

  const calls = server.seen.filter(({ body }) => body.includes('tools/call'))
  assert.equal(calls.length, 1)
  const { headers, body } = calls[0]!
  const key = JSON.stringify({ [IDEMPOTENCY_KEY]: permit.upstreamKey })
  const params = `{"name":"echo","arguments":${permit.action.proposal.canonical},"_meta":${key}}`
  assert.equal(body, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${params}}`)
  assert.equal(headers['authorization'], 'Bearer s3cret')
  assert.equal(headers['mcp-protocol-version'], '2025-11-25')
  assert.equal(headers['mcp-session-id'], 'session-1')
  assert.equal(headers['accept'], 'application/json, text/event-stream')
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['user-agent'], `countersign/${implementation.version}`)
  assert.equal(headers['mcp-method'], undefined)
  const last = server.seen.at(-1)
  assert.deepEqual([last?.method, last?.headers['mcp-session-id']], ['DELETE', 'session-1'])
})

test('a modern call says in its headers what its body says, and has no session', async () => {
  await using server = await endpoint((_request, response, message) => {
    if (message['method'] !== 'server/discover') return reply(response, message, 'yes')
    const result = { supportedVersions: ['2026-07-28'], capabilities: {}, resultType: 'complete' }
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'ignored' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], result }))
  })
  await using upstream = await connected({ kind: 'http', url: server.url, headers: {} })
  await upstream.send(permitFor('größe', {}, { lane: 'read' }), sending())
  const { headers, body } = server.seen.at(-1)!
  assert.equal(headers['mcp-protocol-version'], '2026-07-28')
  assert.equal(headers['mcp-method'], 'tools/call')
  assert.equal(headers['mcp-name'], `=?base64?${Buffer.from('größe').toString('base64')}?=`)
  assert.equal(headers['mcp-session-id'], undefined)
  const { params } = JSON.parse(body) as { params: JsonObject }
  assert.deepEqual(Object.keys(params['_meta'] as JsonObject), [
    'io.modelcontextprotocol/protocolVersion',
    'io.modelcontextprotocol/clientCapabilities',
    'io.modelcontextprotocol/clientInfo',
  ])
})

test('headers that are ours to set, credentials in the URL and other schemes are refused before anything is sent', async () => {
  const reaches = [
    { url: 'http://127.0.0.1:9/mcp', headers: { 'Mcp-Session-Id': 'x' } },
    { url: 'http://127.0.0.1:9/mcp', headers: { 'mcp-param-a': 'x' } },
    { url: 'http://user:secret@127.0.0.1:9/mcp', headers: {} },
    { url: 'file:///etc/passwd', headers: {} },
  ]
  for (const reach of reaches) {
    await using upstream = hold({ kind: 'http', ...reach })
    await upstream.settled
    assert.ok(upstream.state.kind === 'down')
    assert.match(upstream.state.why, /not for the configuration|credentials|neither http/)
    assert.doesNotMatch(upstream.state.why, /secret/)
  }
})

test('F01: where nobody listens it is proved that nothing was sent', async () => {
  await using server = await endpoint(() => {})
  const { url } = server
  server.server.close()
  await using upstream = hold({ kind: 'http', url, headers: {} })
  await upstream.settled
  assert.ok(upstream.state.kind === 'down')
  assert.match(upstream.state.why, /ECONNREFUSED/)
  assert.equal((await upstream.send(permitFor('echo'), sending())).kind, 'not-sent')

  const downs: string[] = []
  const events = {
    notification: () => {},
    request: () => {},
    missed: () => {},
    down: (why: string) => void downs.push(why),
  }
  const link = openHttp({ kind: 'http', url, headers: {} }, { connectTimeoutMs: 1000 }, events, noStrays())
  const { outcome } = await ask(link, { method: 'tools/call', params: {}, revision: '2025-11-25' }, soon())
  assert.deepEqual(outcome, { kind: 'not-sent', why: 'the server cannot be reached (ECONNREFUSED)' })
  assert.equal(downs.length, 1)
  await link.close()
})

test('a server that goes away is down, and is connected to again when it comes back', async () => {
  const first = await onHttp('honest', '--era', 'legacy')
  await using upstream = await connected(first.reach)
  const down = next(upstream, 'down')
  await first[Symbol.asyncDispose]()
  // Whatever this one comes to, the next ones find the server gone.
  await upstream.send(permitFor('echo', { text: 'x' }), sending({ softDeadlineMs: 500, hardDeadlineMs: 500 }))
  void upstream.send(permitFor('echo', { text: 'x' }), sending({ softDeadlineMs: 500, hardDeadlineMs: 500 }))
  await down
  assert.equal((await upstream.send(permitFor('echo', { text: 'x' }), sending())).kind, 'not-sent')
  const ready = next(upstream, 'ready')
  await using second = await onHttp('honest', '--era', 'legacy', '--port', String(first.port))
  await ready
  assert.equal(textOf(await upstream.send(permitFor('echo', { text: 'x' }), sending())), 'x')
  assert.equal(second.port, first.port)
})

for (const status of [404, 400]) {
  test(`a session that is unknown (${status}) costs one call, which is not sent again; later calls have a new session`, async () => {
    await using server = await endpoint((request, response, message) => {
      if (request.headers['mcp-session-id'] === 'session-2') reply(response, message, 'again')
      else response.writeHead(request.method === 'POST' ? status : 405).end()
    })
    await using upstream = await connected({ kind: 'http', url: server.url, headers: {} }, legacy)
    const ready = next(upstream, 'ready')
    const lost = await upstream.send(permitFor('echo', { n: 1 }), sending())
    assert.deepEqual(lost, { kind: 'no-answer', why: 'status', detail: `HTTP ${status}`, status })
    await ready
    assert.equal(textOf(await upstream.send(permitFor('echo', { n: 2 }), sending())), 'again')
    assert.equal(server.seen.filter(({ body }) => body.includes('"n":1')).length, 1)
  })
}

test('the stream of changes is opened again when it ends, and then a change may have been missed', async () => {
  let streams = 0
  await using server = await endpoint((request, response, message) => {
    if (request.method !== 'GET') return reply(response, message, 'yes')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': hello\n\n')
    if (++streams === 1) setTimeout(() => response.end(), 150)
  })
  await using upstream = hold({ kind: 'http', url: server.url, headers: {} }, legacy)
  const times: number[] = []
  const twice = new Promise<void>((resolve) => {
    upstream.onChanged((kind) => {
      if (kind === 'tools' && times.push(performance.now()) === 2) resolve()
    })
  })
  await twice
  assert.equal(streams, 2)
})

test('a server without such a stream is left alone', async () => {
  await using server = await endpoint((request, response, message) => {
    if (request.method === 'GET') response.writeHead(405).end()
    else reply(response, message, 'yes')
  })
  await using upstream = await connected({ kind: 'http', url: server.url, headers: {} }, legacy)
  for (let n = 0; n < 5; n++) await upstream.send(permitFor('echo', { n }), sending())
  assert.equal(upstream.state.kind, 'ready')
  assert.equal(server.seen.filter(({ method }) => method === 'GET').length, 1)
})

test('requests of a legacy server on any stream are answered by a POST', async () => {
  await using server = await endpoint((request, response, message) => {
    if (request.method !== 'POST' || message['method'] !== 'tools/call') {
      response.writeHead(405).end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"jsonrpc":"2.0","id":"r1","method":"ping"}\n\n')
    response.write('data: {"jsonrpc":"2.0","id":"r2","method":"roots/list"}\n\n')
    const result = { content: [{ type: 'text', text: 'done' }] }
    response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message['id'], result })}\n\n`)
  })
  await using upstream = await connected({ kind: 'http', url: server.url, headers: {} }, legacy)
  assert.equal(textOf(await upstream.send(permitFor('echo'), sending())), 'done')
  await upstream.close()
  const answers = server.seen.map(({ body }) => body).filter((body) => body.includes('"r1"') || body.includes('"r2"'))
  assert.deepEqual(answers.toSorted(), [
    '{"jsonrpc":"2.0","id":"r1","result":{}}',
    '{"jsonrpc":"2.0","id":"r2","error":{"code":-32601,"message":"Method not found"}}',
  ])
})
