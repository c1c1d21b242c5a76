import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import type { Answer } from '../../flow/answer.ts'
import { ask, errorOf, initialized, modern, rpc, served, until } from './asking.test.ts'
import { answeredText, said } from './stand-in.test.ts'

test('200 calls at once under the id 1, of two principals and in both eras: each gets its own answer', async (t) => {
  const { url, ports } = await served(t)
  const finish: (() => void)[] = []
  // Nothing is answered before all are under way, and then the last comes first.
  ports.tools.set('echo__say', (request) => {
    const { credential } = request
    const who = credential.kind === 'bearer' ? credential.token.reveal() : '?'
    const { value } = request.arguments as { value: { text: string } }
    return new Promise<Answer>((resolve) => finish.push(() => resolve(said(`${who}:${value.text}`))))
  })
  const sessions = { alice: await initialized(url), bob: await initialized(url, 'bob') }
  const all = Array.from({ length: 200 }, async (_, n) => {
    const who = n % 2 === 0 ? 'alice' : 'bob'
    const params = { name: 'echo__say', arguments: { text: `${n}` } }
    const sent =
      n % 4 < 2
        ? { body: rpc('tools/call', params), headers: sessions[who] }
        : modern('tools/call', params, { headers: { authorization: `Bearer ${who}` } })
    const got = await ask(url, sent)
    assert.equal(got.json['id'], 1)
    const { content } = got.json['result'] as { content: [{ text: string }] }
    assert.equal(content[0].text, `${who}:${n}`)
  })
  await until(() => finish.length === 200, 'all are under way')
  for (const end of finish.toReversed()) end()
  await Promise.all(all)
})

test('one session cannot have more under way than it may', async (t) => {
  const { url, ports } = await served(t, { callsAtOnce: 2 })
  const finish: (() => void)[] = []
  ports.tools.set('slow', () => new Promise((resolve) => finish.push(() => resolve(said('done')))))
  const headers = await initialized(url)
  const running = [1, 2].map((id) => ask(url, { body: rpc('tools/call', { name: 'slow' }, id), headers }))
  await until(() => finish.length === 2, 'both are under way')
  assert.match((await ask(url, { body: rpc('tools/call', { name: 'slow' }, 3), headers })).text, /TOO_MANY_AT_ONCE/)
  for (const end of finish) end()
  for (const got of await Promise.all(running)) assert.match(got.text, /done/)
  assert.equal(ports.calls.length, 2)
})

test('one principal cannot have more under way than it may without a session either, and leaving makes no room', async (t) => {
  const { url, ports } = await served(t, { callsPerPrincipal: 2 })
  const finish: (() => void)[] = []
  let gone = false
  ports.tools.set('slow', (_request, _caller, signal) => {
    signal.addEventListener('abort', () => (gone = true))
    return new Promise((resolve) => finish.push(() => resolve(said('done'))))
  })
  const headers = await initialized(url)
  const slow = modern('tools/call', { name: 'slow' })
  const left = new AbortController()
  const sent = { ...(slow.headers as Record<string, string>), 'content-type': 'application/json' }
  const leaving = fetch(url, {
    method: 'POST',
    headers: { ...sent, authorization: 'Bearer alice' },
    body: slow.body as string,
    signal: left.signal,
  })
  const staying = ask(url, { body: rpc('tools/call', { name: 'slow' }, 2), headers })
  await until(() => finish.length === 2, 'both are under way')
  left.abort()
  await leaving.catch(() => {})
  await until(() => gone, 'it is known that the client left')
  for (const more of [slow, { body: rpc('tools/call', { name: 'slow' }, 3), headers }]) {
    assert.match((await ask(url, more)).text, /TOO_MANY_AT_ONCE/)
  }
  const other = ask(url, modern('tools/call', { name: 'slow' }, { headers: { authorization: 'Bearer bob' } }))
  await until(() => finish.length === 3, 'the call of another is under way')
  for (const end of finish) end()
  for (const got of [await staying, await other]) assert.match(got.text, /done/)
  assert.match((await ask(url, modern('tools/call', { name: 'echo__say' }))).text, /result/)
})

test('listening is bounded, for one and for all, and nothing to listen for ends at once', async (t) => {
  const { url } = await served(t, { subscriptions: 3, subscriptionsPerPrincipal: 2 })
  const filter = { notifications: { toolsListChanged: true } }
  const { headers, body } = modern('subscriptions/listen', filter)
  const left = new AbortController()
  const listen = (token: string) =>
    fetch(url, {
      method: 'POST',
      headers: {
        ...(headers as Record<string, string>),
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      },
      body: body as string,
      signal: left.signal,
    })
  assert.equal((await listen('alice')).status, 200)
  assert.equal((await listen('alice')).status, 200)
  const third = await listen('alice')
  assert.equal(third.status, 429)
  await third.text()
  assert.equal((await listen('bob')).status, 200)
  const full = await listen('bob')
  assert.equal(full.status, 429)
  await full.text()

  const nothing = await ask(url, modern('subscriptions/listen', { notifications: { taskIds: ['x'] } }))
  assert.equal(nothing.status, 429, 'full is full')
  left.abort()
  let got = nothing
  while (got.status === 429) got = await ask(url, modern('subscriptions/listen', { notifications: { taskIds: ['x'] } }))
  assert.match(got.text, /acknowledged[^]*"notifications":\{\}[^]*"resultType":"complete"/)
  assert.equal(errorOf(await ask(url, modern('subscriptions/listen'))).code, -32602)
  const json = modern('subscriptions/listen', filter, { headers: { accept: 'application/json' } })
  assert.equal((await ask(url, json)).status, 406)
})

test('a large result arrives whole, and a client that leaves it lying is cut off', async (t) => {
  const { url, ports } = await served(t, { writeMs: 100 })
  const text = `{"content":[{"type":"text","text":"${'é'.repeat(100_000)}"}]}`
  ports.tools.set('big', async () => answeredText(text))
  assert.ok((await ask(url, modern('tools/call', { name: 'big' }))).text.includes(text.slice(1, -1)))

  ports.tools.set('huge', async () => answeredText(`{"content":[{"type":"text","text":"${'x'.repeat(30_000_000)}"}]}`))
  const { headers, body } = modern('tools/call', { name: 'huge' })
  const sent = request(url, {
    method: 'POST',
    headers: {
      ...(headers as Record<string, string>),
      'content-type': 'application/json',
      authorization: 'Bearer alice',
    },
  })
  const cut = new Promise<string>((resolve) => {
    sent.on('response', (response) => {
      response.pause()
      response.on('error', (fault) => resolve(fault.message))
      response.on('close', () => resolve('closed'))
      // Once the server has given up, what is left in the pipes ends too soon.
      void until(() => ports.calls.length === 2, 'called').then(() => setTimeout(() => response.resume(), 400))
    })
  })
  sent.end(body)
  assert.equal(await cut, 'aborted')
})

test('clients that break off at any point harm nobody', async (t) => {
  const { url, port, ports } = await served(t, { keepAliveMs: 20 })
  ports.tools.set('slow', () => new Promise((resolve) => setTimeout(() => resolve(said('late')), 30)))
  const session = await initialized(url)
  const body = rpc('tools/call', { name: 'slow' })
  const head = Object.entries({ ...session, 'content-type': 'application/json', 'content-length': `${body.length}` })
  const whole = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${head.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n${body}`
  const gone = Array.from({ length: 150 }, async (_, n) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(n % 3 === 0 ? whole : whole.slice(0, Math.floor((whole.length * n) / 150)))
    if (n % 2 === 0) socket.resetAndDestroy()
    else setTimeout(() => socket.resetAndDestroy(), n % 50)
    await once(socket, 'close')
  })
  await Promise.all(gone)
  for (const noise of ['\0\0\0', 'GET', 'GET / HTTP/9.9\r\n\r\n', 'POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n']) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end(noise)
    socket.resume()
    await once(socket, 'close')
  }
  assert.match((await ask(url, { body, headers: session })).text, /late/)
  assert.deepEqual(ports.faults, [])
})

test('calls under way answer when the server closes, and what does not end is cut', async (t) => {
  const { url, ports, close } = await served(t)
  const finish: (() => void)[] = []
  ports.tools.set('slow', () => new Promise((resolve) => finish.push(() => resolve(said('done')))))
  const headers = await initialized(url)
  const answer = ask(url, { body: rpc('tools/call', { name: 'slow' }), headers })
  const lost = ask(url, modern('tools/call', { name: 'slow' })).then(
    () => 'answered',
    () => 'cut',
  )
  await until(() => finish.length === 2, 'both are under way')
  const closed = close(200)
  await assert.rejects(ask(url, modern('tools/list')))
  const legacyIsFirst = ports.calls[0]!.origin.session !== undefined
  finish[legacyIsFirst ? 0 : 1]!()
  assert.match((await answer).text, /done/)
  assert.equal(await lost, 'cut')
  await closed
})
