import assert from 'node:assert/strict'
import test from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Answer, Caller } from '../../flow/answer.ts'
import type { JsonObject } from '../../words/json.ts'
import { ask, events, initialized, nextMessage, open, rpc, served, until } from './asking.test.ts'
import { refused } from './refused.ts'
import { type StandIn, answeredText, said } from './stand-in.test.ts'

const requestInit = { headers: { authorization: 'Bearer alice' } }

/** A tool that needs a yes: it waits as the consent gate does, and says what it was told. */
function asksFirst(ports: StandIn, waitMs = 5_000): { replies: unknown[]; callers: Caller[] } {
  const seen = { replies: [] as unknown[], callers: [] as Caller[] }
  ports.tools.set('files__delete', async (_request, caller, signal): Promise<Answer> => {
    seen.callers.push(caller)
    if (caller.elicit === undefined) return refused('APPROVER_MISSING')
    const reply = await caller.elicit(ports.approval(), AbortSignal.any([signal, AbortSignal.timeout(waitMs)]))
    seen.replies.push(reply)
    return reply === 'accept' ? said('deleted') : refused('APPROVAL_DENIED')
  })
  return seen
}

type Decide = (params: JsonObject) => JsonObject

test('official clients of the legacy era put the question to their user, and the answer comes back', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  let decide: Decide = () => ({})
  const asked: JsonObject[] = []

  const two = new Client({ name: 'two', version: '1' }, { capabilities: { elicitation: {} } })
  two.setRequestHandler('elicitation/create', (request) => {
    asked.push(request.params as never)
    return decide(request.params as never) as never
  })
  const one = new ClientV1({ name: 'one', version: '1' }, { capabilities: { elicitation: {} } })
  one.setRequestHandler(ElicitRequestSchema, (request) => {
    asked.push(request.params as never)
    return decide(request.params as never) as never
  })
  await two.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  await one.connect(new TransportV1(new URL(url), { requestInit }) as never)

  const table: readonly (readonly [JsonObject, string | undefined, boolean])[] = [
    [{ action: 'accept', content: { decision: 'approve' } }, 'accept', false],
    [{ action: 'accept', content: { decision: 'deny' } }, 'decline', true],
    [{ action: 'decline' }, 'decline', true],
    [{ action: 'cancel' }, 'cancel', true],
  ]
  for (const client of [two, one]) {
    for (const [result, reply, isError] of table) {
      decide = () => result
      const got = (await client.callTool({ name: 'files__delete', arguments: {} })) as JsonObject
      assert.equal(got['isError'] ?? false, isError)
      assert.equal(seen.replies.pop(), reply)
    }
  }
  assert.equal(asked.length, 8)
  assert.equal(asked[0]!['message'], 'Delete the file notes.md?')
  assert.equal(seen.callers[0]!.consent, 'wait')
  await two.close()
  await one.close()
})

test('an answer that does not say plainly yes is none', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  const headers = await initialized(url, 'alice', { elicitation: { form: {} } })
  const results: readonly JsonObject[] = [
    { result: { action: 'accept' } },
    { result: { action: 'accept', content: {} } },
    { result: { action: 'accept', content: { decision: true } } },
    { result: { action: 'accept', content: { decision: 'APPROVE' } } },
    { result: { action: 'yes', content: { decision: 'approve' } } },
    { result: { content: { decision: 'approve' } } },
    { error: { code: -32601, message: 'no' } },
  ]
  for (const result of results) {
    const stream = events(await open(url, { body: rpc('tools/call', { name: 'files__delete' }), headers }))
    const question = await nextMessage(stream)
    assert.equal(question['method'], 'elicitation/create')
    const body = JSON.stringify({ jsonrpc: '2.0', id: question['id']!, ...result })
    assert.equal((await ask(url, { body, headers })).status, 202)
    assert.equal(((await nextMessage(stream))['result'] as JsonObject)['isError'], true)
    assert.equal(seen.replies.pop(), undefined)
  }
})

test('nobody answers for somebody else: not another session, not another principal, not under another id', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports, 2_000)
  const headers = await initialized(url, 'alice', { elicitation: {} })
  const stream = events(await open(url, { body: rpc('tools/call', { name: 'files__delete' }), headers }))
  const question = await nextMessage(stream)
  const yes = (id: unknown) =>
    JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { decision: 'approve' } } })
  const id = question['id']
  const second = await initialized(url, 'alice', { elicitation: {} })
  assert.equal((await ask(url, { body: yes(id), headers: second })).status, 202)
  const bob = await initialized(url, 'bob', { elicitation: {} })
  assert.equal((await ask(url, { body: yes(id), headers: bob })).status, 202)
  const bobsToken = { ...headers, authorization: 'Bearer bob' }
  assert.equal((await ask(url, { body: yes(id), headers: bobsToken })).status, 404)
  assert.equal((await ask(url, { body: yes(1), headers })).status, 202)
  assert.deepEqual(seen.replies, [])
  assert.equal((await ask(url, { body: yes(id), headers })).status, 202)
  assert.equal(((await nextMessage(stream))['result'] as JsonObject)['isError'], undefined)
  assert.deepEqual(seen.replies, ['accept'])
})

test('a question that was answered elsewhere is withdrawn', async (t) => {
  const { url, ports } = await served(t)
  const elsewhere = new AbortController()
  ports.tools.set('files__delete', async (_request, caller) => {
    const reply = await caller.elicit!(ports.approval(), elsewhere.signal)
    return said(`elicited: ${reply}`)
  })
  const headers = await initialized(url, 'alice', { elicitation: {} })
  const stream = events(await open(url, { body: rpc('tools/call', { name: 'files__delete' }), headers }))
  const question = await nextMessage(stream)
  elsewhere.abort()
  const withdrawn = await nextMessage(stream)
  assert.equal(withdrawn['method'], 'notifications/cancelled')
  assert.equal((withdrawn['params'] as JsonObject)['requestId'], question['id'])
  assert.match(JSON.stringify(await nextMessage(stream)), /elicited: undefined/)
})

test('a client that did not offer forms, or takes no streams, is not asked', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  for (const [capabilities, accept] of [
    [{}, '*/*'],
    [{ elicitation: { url: {} } }, '*/*'],
    [{ elicitation: {} }, 'application/json'],
  ] as const) {
    const headers = { ...(await initialized(url, 'alice', capabilities)), accept }
    const got = await ask(url, { body: rpc('tools/call', { name: 'files__delete' }), headers })
    assert.match(got.text, /APPROVER_MISSING/)
  }
  assert.ok(seen.callers.every((caller) => caller.consent === 'wait'))
})

test('progress goes to clients that gave a token, keeps coming while a call waits, and only grows', async (t) => {
  const { url, ports } = await served(t, { progressMs: 30, keepAliveMs: 10_000 })
  let finish: (answer: Answer) => void = () => {}
  ports.tools.set('slow', async (_request, caller) => {
    caller.progress!('waits for a person')
    await new Promise((resolve) => setTimeout(resolve, 120))
    const { relayProgress } = caller
    for (const progress of [0, 50, 20, 100]) relayProgress!({ progress, total: 100, message: 'half' })
    return new Promise((resolve) => (finish = resolve))
  })
  const headers = await initialized(url)
  const params = { name: 'slow', _meta: { progressToken: 'p1' } }
  const stream = events(await open(url, { body: rpc('tools/call', params), headers }))
  const seen: JsonObject[] = []
  while (seen.at(-1)?.['message'] !== 'half' || Number(seen.at(-1)?.['progress']) < 100) {
    seen.push((await nextMessage(stream))['params'] as JsonObject)
  }
  finish(said('done'))
  assert.match(JSON.stringify(await nextMessage(stream)), /done/)
  assert.ok(seen.filter((one) => one['message'] === 'waits for a person').length >= 2)
  assert.ok(seen.every((one) => one['progressToken'] === 'p1'))
  const figures = seen.map((one) => Number(one['progress']))
  assert.deepEqual(
    figures,
    figures.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(figures).size, figures.length)

  ports.tools.set('slow', async (_request, caller) => {
    caller.progress!('nobody asked')
    assert.equal(caller.relayProgress, undefined)
    return said('plain')
  })
  const without = await ask(url, { body: rpc('tools/call', { name: 'slow' }), headers })
  assert.equal(without.headers['content-type'], 'application/json')
})

test('a call that takes long becomes a stream with signs of life', async (t) => {
  const { url, ports } = await served(t, { keepAliveMs: 40 })
  const { promise, resolve } = Promise.withResolvers<Answer>()
  ports.tools.set('slow', () => promise)
  const headers = await initialized(url)
  const response = await open(url, { body: rpc('tools/call', { name: 'slow' }), headers })
  assert.equal(response.headers['content-type'], 'text/event-stream')
  assert.equal(response.headers['x-accel-buffering'], 'no')
  const stream = events(response)
  assert.equal((await stream.next()).value, undefined)
  // Line breaks between tokens would end the frame.
  resolve(answeredText('{\n  "content": [\r\n {"type":"text","text":"done"}]\n}'))
  assert.match(JSON.stringify(await nextMessage(stream)), /done/)
})

test('a legacy client that goes away has not cancelled; one that cancels hears no more', async (t) => {
  const { url, ports } = await served(t)
  const signals: AbortSignal[] = []
  const callers: Caller[] = []
  const finish: ((answer: Answer) => void)[] = []
  ports.tools.set('slow', (_request, caller, signal) => {
    signals.push(signal)
    callers.push(caller)
    return new Promise((resolve) => finish.push(resolve))
  })
  const headers = await initialized(url)
  const left = new AbortController()
  const gone = fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: rpc('tools/call', { name: 'slow' }, 7),
    signal: left.signal,
  }).catch(() => 'gone')
  await until(() => signals.length === 1, 'the call began')
  left.abort()
  assert.equal(await gone, 'gone')
  await until(() => !(callers[0] as unknown as { attached: boolean }).attached, 'it is seen that nobody listens')
  assert.equal(signals[0]!.aborted, false)
  finish[0]!(said('to nobody'))

  const cancelled = open(url, { body: rpc('tools/call', { name: 'slow' }, 8), headers })
  await until(() => signals.length === 2, 'the second began')
  const body = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}'
  assert.equal((await ask(url, { body, headers })).status, 202)
  await until(() => signals[1]!.aborted, 'the flow was told')
  finish[1]!(said('too late'))
  for await (const event of events(await cancelled)) assert.fail(JSON.stringify(event))
})
