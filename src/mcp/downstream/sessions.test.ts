import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { LEGACY, ask, errorOf, events, initialized, nextMessage, open, rpc, served, until } from './asking.test.ts'
import { said } from './stand-in.test.ts'

const STREAM = { accept: 'text/event-stream' }

test('initialize agrees on what both speak, and says what is here', async (t) => {
  const { url } = await served(t)
  for (const [asked, agreed] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-03-26', '2025-03-26'],
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
  ] as const) {
    const got = await ask(url, { body: rpc('initialize', { protocolVersion: asked, capabilities: {} }) })
    const result = got.json['result'] as Record<string, unknown>
    assert.equal(result['protocolVersion'], agreed)
    assert.equal(result['instructions'], 'Ask before you act.')
    assert.deepEqual(Object.keys(result['capabilities'] as object), [
      'tools',
      'prompts',
      'resources',
      'completions',
      'logging',
    ])
    assert.match(String(got.headers['mcp-session-id']), /^[0-9a-f]{32}$/)
  }
  assert.equal(errorOf(await ask(url, { body: rpc('initialize', {}) })).code, -32602)
})

test('a session is needed, and is found by its own principal only', async (t) => {
  const { url } = await served(t)
  const alice = await initialized(url)
  const list = { body: rpc('tools/list') }
  assert.equal((await ask(url, { ...list, headers: alice })).status, 200)
  assert.equal((await ask(url, list)).status, 400)
  const unknown = await ask(url, { ...list, headers: { ...alice, 'mcp-session-id': 'a'.repeat(32) } })
  assert.equal(unknown.status, 404)
  for (const token of ['bob', 'alice-other']) {
    const headers = { ...alice, authorization: `Bearer ${token}` }
    const foreign = await ask(url, { ...list, headers })
    assert.deepEqual([foreign.status, foreign.text], [404, unknown.text])
    assert.equal((await ask(url, { method: 'GET', headers: { ...headers, ...STREAM } })).status, 404)
    assert.equal((await ask(url, { method: 'DELETE', headers })).status, 404)
  }
  assert.equal((await ask(url, { ...list, headers: alice })).status, 200)
})

test('a version header that nobody speaks is refused, and none at all is not', async (t) => {
  const { url } = await served(t)
  const session = await initialized(url)
  const status = async (version: string | undefined) =>
    (await ask(url, { body: rpc('ping'), headers: { ...session, 'mcp-protocol-version': version } })).status
  assert.equal(await status(undefined), 200)
  assert.equal(await status('2025-06-18'), 200)
  assert.equal(await status('1999-01-01'), 400)
})

test('DELETE ends a session, its stream and what was under way', async (t) => {
  const { url, ports, figures } = await served(t)
  const session = await initialized(url)
  const stream = await open(url, { method: 'GET', headers: { ...session, ...STREAM } })
  let aborted = false
  ports.tools.set('slow', async (_request, _caller, signal) => {
    await once(signal, 'abort')
    aborted = true
    return said('too late')
  })
  const running = open(url, { body: rpc('tools/call', { name: 'slow' }), headers: session })
  await until(() => ports.calls.length === 1, 'the call began')
  assert.equal((await ask(url, { method: 'DELETE', headers: session })).status, 204)
  for await (const event of events(stream)) assert.equal(event, undefined)
  for await (const event of events(await running)) assert.fail(`nothing more was to be said: ${JSON.stringify(event)}`)
  assert.ok(aborted)
  assert.equal(figures().sessions, 0)
  assert.equal((await ask(url, { body: rpc('ping'), headers: session })).status, 404)
})

test('changed lists are told on the stream, once for many changes, also those of before it opened', async (t) => {
  const { url, ports } = await served(t, { coalesceMs: 20, keepAliveMs: 60 })
  const session = await initialized(url)
  const bob = await open(url, { method: 'GET', headers: { ...(await initialized(url, 'bob')), ...STREAM } })
  ports.changed('prompts')
  await nextMessage(events(bob))
  const response = await open(url, { method: 'GET', headers: { ...session, ...STREAM } })
  assert.equal(response.headers['x-accel-buffering'], 'no')
  const stream = events(response)
  assert.equal((await nextMessage(stream))['method'], 'notifications/prompts/list_changed')
  for (let n = 0; n < 10; n++) ports.changed('tools')
  ports.changed('resources')
  assert.equal((await nextMessage(stream))['method'], 'notifications/tools/list_changed')
  assert.equal((await nextMessage(stream))['method'], 'notifications/resources/list_changed')
  assert.equal((await stream.next()).value, undefined, 'then only a comment, to keep it alive')

  assert.equal((await ask(url, { method: 'GET', headers: { ...session, ...STREAM } })).status, 409)
  assert.equal((await ask(url, { method: 'GET', headers: { ...session, accept: 'application/json' } })).status, 406)
  response.destroy()
  const again = async () => (await open(url, { method: 'GET', headers: { ...session, ...STREAM } })).statusCode
  for (let status = await again(); status !== 200; status = await again()) assert.equal(status, 409)
})

test('what is not used goes after a while; what has a stream or a call stays', async (t) => {
  const { url, figures, ports } = await served(t, { sessionIdleMs: 80, keepAliveMs: 100, progressMs: 100 })
  ports.tools.set('slow', (_request, _caller, signal) => once(signal, 'abort').then(() => said('late')))
  const abandoned: Record<string, string>[] = []
  for (let n = 0; n < 20; n++) abandoned.push(await initialized(url))
  const streaming = await initialized(url)
  const stream = await open(url, { method: 'GET', headers: { ...streaming, ...STREAM } })
  const calling = await initialized(url)
  void open(url, { body: rpc('tools/call', { name: 'slow' }), headers: calling })
  await until(() => figures().sessions === 2, 'the abandoned ones are gone')
  assert.equal((await ask(url, { body: rpc('ping'), headers: abandoned[0]! })).status, 404)
  assert.equal((await ask(url, { body: rpc('ping'), headers: streaming })).status, 200)
  assert.equal((await ask(url, { body: rpc('ping'), headers: calling })).status, 200)
  stream.destroy()
})

test('one principal that opens too many sessions loses its own oldest, and nobody else theirs', async (t) => {
  const { url, figures } = await served(t, { sessions: 5, sessionsPerPrincipal: 3 })
  const bob = await initialized(url, 'bob')
  const first = await initialized(url)
  for (let n = 0; n < 5; n++) await initialized(url)
  assert.equal(figures().sessions, 4)
  assert.equal((await ask(url, { body: rpc('ping'), headers: first })).status, 404)
  assert.equal((await ask(url, { body: rpc('ping'), headers: bob })).status, 200)
  const other = await initialized(url, 'alice-other')
  assert.equal((await ask(url, { body: rpc('ping'), headers: other })).status, 200)
})

test('when all that one has is in use, another session is refused', async (t) => {
  const { url } = await served(t, { sessions: 2, sessionsPerPrincipal: 1 })
  const session = await initialized(url)
  const stream = await open(url, { method: 'GET', headers: { ...session, ...STREAM } })
  const got = await ask(url, { body: rpc('initialize', { protocolVersion: LEGACY, capabilities: {} }) })
  assert.equal(got.status, 503)
  stream.destroy()
})

test('closing the server ends its streams', async (t) => {
  const { url, close, ports } = await served(t)
  const session = await initialized(url)
  const stream = await open(url, { method: 'GET', headers: { ...session, ...STREAM } })
  await close()
  for await (const event of events(stream)) assert.equal(event, undefined)
  assert.equal(ports.listeners, 0)
})
