import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connected, permitFor, sending, textOf } from '../../../test/fixtures/servers/reach.ts'

interface Cutting {
  readonly url: string
  readonly calls: number
  /** `Last-Event-ID` of each GET, and how long after the cut it came. */
  readonly asked: readonly { readonly id: string | undefined; readonly afterMs: number }[]
}

/** A server of 2025-11-25 that ends the stream of a call after its first event; `rest` answers who asks for more. */
async function cutting(
  t: TestContext,
  rest: (response: ServerResponse, answer: string, nth: number) => void,
  retry = 'retry: 150\n',
): Promise<Cutting> {
  const state = { url: '', calls: 0, asked: [] as { id: string | undefined; afterMs: number }[] }
  let callId: unknown
  let cutAt = 0
  const reply = (id: unknown, result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result })
  const server = createServer((request, response) => {
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    if (request.method === 'GET') {
      const id = request.headers['last-event-id']
      state.asked.push({ id: typeof id === 'string' ? id : undefined, afterMs: performance.now() - cutAt })
      return rest(response, reply(callId, { content: [{ type: 'text', text: 'the rest' }] }), state.asked.length)
    }
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const { id, method } = JSON.parse(body) as { id?: unknown; method: string }
      if (id === undefined) response.writeHead(202).end()
      else if (method === 'tools/call') {
        state.calls++
        callId = id
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`id: one\n${retry}data: \n\n`, () => (cutAt = performance.now()))
      } else {
        const serverInfo = { name: 'cutting', version: '1' }
        const hello = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
        const error = JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(method === 'initialize' ? reply(id, hello) : error)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return state
}

const events = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' })

test('the rest of a stream that was cut is asked for, after the time that the server named, and nothing is sent twice', async (t) => {
  const server = await cutting(t, (response, answer) => {
    events(response).end(`id: two\ndata: ${answer}\n\n`)
  })
  await using upstream = await connected({ kind: 'http', url: server.url, headers: {} })
  assert.equal(textOf(await upstream.send(permitFor('slow'), sending())), 'the rest')
  assert.equal(server.calls, 1)
  assert.deepEqual(
    server.asked.map(({ id }) => id),
    ['one'],
  )
  assert.ok(server.asked[0]!.afterMs >= 140)
})

test('a server may cut the rest too, and is asked from where it stood', async (t) => {
  const server = await cutting(t, (response, answer, nth) => {
    events(response).end(nth === 1 ? 'id: two\nretry: 0\ndata: \n\n' : `id: three\ndata: ${answer}\n\n`)
  })
  await using upstream = await connected({ kind: 'http', url: server.url, headers: {} })
  assert.equal(textOf(await upstream.send(permitFor('slow'), sending())), 'the rest')
  assert.deepEqual(
    server.asked.map(({ id }) => id),
    ['one', 'two'],
  )
})

test('where the rest is not to be had nobody knows the outcome, and nothing is sent twice', async (t) => {
  const server = await cutting(t, (response) => response.writeHead(405).end(), 'retry: 0\n')
  await using upstream = await connected({ kind: 'http', url: server.url, headers: {} })
  const outcome = await upstream.send(permitFor('slow'), sending())
  assert.deepEqual(outcome, {
    kind: 'no-answer',
    why: 'closed',
    detail: 'the stream ended without an answer, and is not to be taken up again (HTTP 405)',
  })
  assert.equal(server.calls, 1)
})

test('a stream of which nothing more comes is not asked for without end', async (t) => {
  const server = await cutting(t, (response) => events(response).end(), 'retry: 0\n')
  await using upstream = await connected({ kind: 'http', url: server.url, headers: {} })
  assert.match(textOf(await upstream.send(permitFor('slow'), sending())), /^no-answer: closed/)
  assert.equal(server.asked.length, 5)
  assert.equal(server.calls, 1)
})
