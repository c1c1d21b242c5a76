import assert from 'node:assert/strict'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import type { Answer } from '../../flow/answer.ts'
import type { JsonObject } from '../../words/json.ts'
import { envelope, until } from './asking.test.ts'
import { RawPipe, servedPipe } from './pipes.test.ts'
import { answeredText, said } from './stand-in.test.ts'

const say = { name: 'echo__say', arguments: { text: 'hi' } }

async function piped(t: TestContext, limits: Parameters<typeof servedPipe>[1] = {}) {
  const served = await servedPipe(t, limits)
  return { ...served, pipe: new RawPipe(served.path) }
}

function codeOf(message: JsonObject): number {
  return (message['error'] as { code: number } | undefined)?.code ?? 0
}

test('both eras are spoken on one pipe, and what was only asked about binds nobody', async (t) => {
  const { pipe } = await piped(t)
  const discovered = await pipe.request(0, 'server/discover', { _meta: envelope() })
  assert.deepEqual((discovered['result'] as JsonObject)['supportedVersions'], ['2026-07-28'])
  const initialized = await pipe.initialize()
  assert.equal((initialized['result'] as JsonObject)['protocolVersion'], '2025-11-25')
  const legacy = (await pipe.request(1, 'tools/call', { ...say, _meta: envelope() }))['result'] as JsonObject
  assert.equal(legacy['resultType'], undefined, 'after the handshake an envelope says nothing')
  assert.deepEqual((await pipe.request(2, 'ping'))['result'], {})
})

test('after a modern request there is no handshake any more', async (t) => {
  const { pipe } = await piped(t)
  const modern = await pipe.request(1, 'tools/call', { ...say, _meta: envelope() })
  assert.equal((modern['result'] as JsonObject)['resultType'], 'complete')
  assert.equal(codeOf(await pipe.request(2, 'initialize', { protocolVersion: '2025-11-25', capabilities: {} })), -32022)
  assert.equal(codeOf(await pipe.request(3, 'tools/list')), -32602)
  assert.equal(codeOf(await pipe.request(4, 'ping', { _meta: envelope() })), -32601)
})

test('before the handshake only ping is answered', async (t) => {
  const { pipe, ports } = await piped(t)
  assert.deepEqual((await pipe.request(1, 'ping'))['result'], {})
  assert.equal(codeOf(await pipe.request(2, 'tools/call', say)), -32600)
  assert.equal(codeOf(await pipe.request(3, 'server/discover')), -32600)
  assert.deepEqual(ports.calls, [])
})

test('lines that are no messages are answered with an error, and the next line is read', async (t) => {
  const { pipe } = await piped(t, { messageBytes: 2_000 })
  await pipe.initialize()
  for (const [line, code] of [
    ['{"jsonrpc":', -32700],
    ['[]', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","id":2}', -32600],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(3_000)}"}}`, -32600],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${'['.repeat(1_500)}`, -32600],
  ] as const) {
    pipe.say(line)
    const got = await pipe.next((message) => message['error'] !== undefined)
    assert.deepEqual([got['id'], codeOf(got)], [null, code], line.slice(0, 60))
  }
  pipe.say('')
  pipe.say('\r')
  assert.deepEqual((await pipe.request(3, 'ping'))['result'], {})
})

test('a principal that is not known any more gets nothing', async (t) => {
  const { path, ports } = await servedPipe(t, {}, { kind: 'none' })
  const pipe = new RawPipe(path)
  const got = await pipe.request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {} })
  assert.equal((got['error'] as { data: JsonObject }).data['code'], 'NO_IDENTITY')
  assert.equal(codeOf(await pipe.request(2, 'tools/list', { _meta: envelope() })), -31000)
  assert.deepEqual(ports.calls, [])
})

test('an answer with line breaks in it is still one line', async (t) => {
  const { pipe, ports } = await piped(t)
  ports.tools.set('pretty', async () => answeredText('{\n  "content": [\r\n    {"type":"text","text":"a\\nb"}\n  ]\n}'))
  await pipe.initialize()
  const got = await pipe.request(1, 'tools/call', { name: 'pretty' })
  assert.deepEqual((got['result'] as JsonObject)['content'], [{ type: 'text', text: 'a\nb' }])
})

test('elicitation, its answer and progress travel on the same pipe as the call', async (t) => {
  const { pipe, ports } = await piped(t)
  ports.tools.set('files__delete', async (_request, caller, signal) => {
    caller.progress!('asks')
    return said(`${await caller.elicit!(ports.approval(), signal)}`)
  })
  await pipe.initialize({ elicitation: {} })
  const answer = pipe.request(1, 'tools/call', { name: 'files__delete', _meta: { progressToken: 0 } })
  const progress = await pipe.next((message) => message['method'] === 'notifications/progress')
  assert.equal((progress['params'] as JsonObject)['progressToken'], 0)
  const question = await pipe.next((message) => message['method'] === 'elicitation/create')
  pipe.say({ jsonrpc: '2.0', id: question['id']!, result: { action: 'accept', content: { decision: 'approve' } } })
  assert.match(JSON.stringify(await answer), /accept/)
})

test('a cancelled call is not answered, and the flow is told', async (t) => {
  const { pipe, ports } = await piped(t)
  let signal: AbortSignal | undefined
  ports.tools.set('slow', async (_request, _caller, given) => {
    signal = given
    await once(given, 'abort')
    return said('too late')
  })
  for (const meta of [undefined, envelope()]) {
    signal = undefined
    if (meta === undefined) await pipe.initialize()
    pipe.say({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'slow', ...(meta && { _meta: meta }) } })
    await until(() => signal !== undefined, 'the call began')
    pipe.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
    await until(() => signal!.aborted, 'the flow was told')
    await pipe.request(6, 'ping')
    assert.ok(!pipe.got.some((message) => message['id'] === 5))
  }
})

test('an id that is in use is not used again, and its call is answered once', async (t) => {
  const { pipe, ports } = await piped(t)
  const { promise, resolve } = Promise.withResolvers<Answer>()
  ports.tools.set('slow', () => promise)
  await pipe.initialize()
  pipe.say({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'slow' } })
  pipe.say({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: say })
  const refused = await pipe.next((message) => message['error'] !== undefined)
  assert.equal(refused['id'], null)
  resolve(said('once'))
  assert.match(JSON.stringify(await pipe.next((message) => message['id'] === 5)), /once/)
  assert.equal(ports.calls.length, 1)
})

test('more calls at once than are allowed are refused, and those under way go on', async (t) => {
  const { pipe, ports } = await piped(t, { callsAtOnce: 3 })
  const finish: (() => void)[] = []
  ports.tools.set('slow', () => new Promise((resolve) => finish.push(() => resolve(said('done')))))
  await pipe.initialize()
  for (let id = 1; id <= 5; id++) pipe.say({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'slow' } })
  for (const id of [4, 5]) {
    assert.match(JSON.stringify(await pipe.next((message) => message['id'] === id)), /TOO_MANY_AT_ONCE/)
  }
  for (const end of finish) end()
  for (const id of [1, 2, 3]) await pipe.next((message) => message['id'] === id)
  assert.equal(finish.length, 3)
})

test('when the client says no more its last calls still answer', async (t) => {
  const { pipe, ports, ended } = await piped(t)
  let finish: (answer: Answer) => void = () => {}
  ports.tools.set('slow', () => new Promise((resolve) => (finish = resolve)))
  await pipe.initialize()
  const answer = pipe.request(1, 'tools/call', { name: 'slow' })
  await until(() => ports.calls.length === 1, 'the call began')
  const over = pipe.end()
  finish(said('the last word'))
  assert.match(JSON.stringify(await answer), /the last word/)
  await over
  await until(() => ended() === 1, 'the pipe was served to its end')
  assert.equal(ports.listeners, 0)
})

test('a call that does not end holds a farewell up for so long only', async (t) => {
  const { pipe, ports, ended } = await piped(t, { farewellMs: 60 })
  let signal: AbortSignal | undefined
  ports.tools.set('stuck', (_request, _caller, given) => {
    signal = given
    return new Promise(() => {})
  })
  await pipe.initialize()
  pipe.say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'stuck' } })
  await until(() => signal !== undefined, 'the call began')
  await pipe.end()
  assert.ok(signal!.aborted)
  await until(() => ended() === 1, 'the pipe was served to its end')
})

test('when the gateway closes, the last calls answer and the pipe ends', async (t) => {
  const closing = new AbortController()
  const { path, ports, ended } = await servedPipe(t, {}, { kind: 'socket' }, closing.signal)
  const pipe = new RawPipe(path)
  let finish: (answer: Answer) => void = () => {}
  ports.tools.set('slow', () => new Promise((resolve) => (finish = resolve)))
  await pipe.initialize()
  const answer = pipe.request(1, 'tools/call', { name: 'slow' })
  await until(() => ports.calls.length === 1, 'the call began')
  closing.abort()
  pipe.say({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: say })
  finish(said('the last word'))
  assert.match(JSON.stringify(await answer), /the last word/)
  await until(() => ended() === 1, 'the pipe was served to its end')
  await assert.rejects(pipe.next((message) => message['id'] === 2))
  assert.equal(ports.calls.length, 1)
})

test('a pipe that breaks tells the flow that its callers are gone', async (t) => {
  const { pipe, ports, ended, cut } = await piped(t)
  let signal: AbortSignal | undefined
  ports.tools.set('slow', (_request, _caller, given) => {
    signal = given
    return new Promise(() => {})
  })
  await pipe.initialize()
  pipe.say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } })
  await until(() => signal !== undefined, 'the call began')
  cut()
  await until(() => signal!.aborted, 'the flow was told')
  await until(() => ended() === 1, 'the pipe was served to its end')
})

test('who does not read is not read from, and nothing is lost when it reads again', async (t) => {
  const { pipe, ports } = await piped(t, { unreadBytes: 100_000, callsAtOnce: 1_000 })
  ports.tools.set('big', async () => said('x'.repeat(50_000)))
  await pipe.initialize()
  pipe.socket.pause()
  const calls = 400
  // Large enough that they come in many pieces.
  const params = { name: 'big', arguments: { padding: 'x'.repeat(5_000) } }
  for (let id = 1; id <= calls; id++) pipe.say({ jsonrpc: '2.0', id, method: 'tools/call', params })
  await until(() => ports.calls.length > 0, 'some were read')
  let before = -1
  let still = 0
  await until(() => {
    still = ports.calls.length === before ? still + 1 : 0
    before = ports.calls.length
    return still === 30
  }, 'no more are read')
  assert.ok(ports.calls.length < calls, `${ports.calls.length} were read`)
  pipe.socket.resume()
  for (let id = 1; id <= calls; id++) await pipe.next((message) => message['id'] === id)
})

test('a legacy client is told of changed lists once it is ready, a modern one by listening', async (t) => {
  const { pipe, ports, path } = await piped(t, { coalesceMs: 10 })
  await pipe.initialize()
  await pipe.request(1, 'ping')
  ports.changed('tools')
  ports.changed('tools')
  await pipe.next((message) => message['method'] === 'notifications/tools/list_changed')

  const modern = new RawPipe(path)
  const filter = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['a://b'] }
  modern.say({
    jsonrpc: '2.0',
    id: 'L',
    method: 'subscriptions/listen',
    params: { _meta: envelope(), notifications: filter },
  })
  const ack = await modern.next((message) => message['method'] === 'notifications/subscriptions/acknowledged')
  const { notifications, _meta } = ack['params'] as { notifications: JsonObject; _meta: JsonObject }
  assert.deepEqual(notifications, { toolsListChanged: true, resourcesListChanged: true })
  assert.deepEqual(_meta, { 'io.modelcontextprotocol/subscriptionId': 'L' })
  ports.changed('prompts')
  ports.changed('resources')
  const told = await modern.next((message) => message['method'] !== undefined)
  assert.equal(told['method'], 'notifications/resources/list_changed')
  assert.deepEqual((told['params'] as JsonObject)['_meta'], _meta)
  modern.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'L' } })
  await modern.request('d', 'server/discover', { _meta: envelope() })
  ports.changed('resources')
  await pipe.next((message) => message['method'] === 'notifications/resources/list_changed')
  await modern.request('e', 'server/discover', { _meta: envelope() })
  assert.deepEqual(modern.got, [])
})
