import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import { LEGACY, MODERN, ask, envelope, errorOf, initialized, modern, rpc, served } from './asking.test.ts'
import { metaKeys } from '../wire/envelope.ts'
import { isRequestId } from '../wire/jsonrpc.ts'
import { listen } from './server.ts'
import { StandIn, definition, options } from './stand-in.test.ts'

const say = { name: 'echo__say', arguments: { text: 'hi' } }

test('what each raw request of the modern era is answered', async (t) => {
  const { url, ports } = await served(t)
  const table: readonly (readonly [what: string, sent: Parameters<typeof ask>[1], status: number, code?: number])[] = [
    ['a call', modern('tools/call', say), 200],
    ['discover', modern('server/discover'), 200],
    ['no _meta under a modern header', { ...modern('tools/list'), body: rpc('tools/list', {}) }, 400, -32602],
    ['no params under a modern header', { ...modern('tools/list'), body: rpc('tools/list') }, 400, -32602],
    ['no client capabilities', modern('tools/list', {}, { meta: { [metaKeys.protocolVersion]: MODERN } }), 400, -32602],
    ['no version header', modern('tools/list', {}, { headers: { 'mcp-protocol-version': undefined } }), 400, -32020],
    ['another version header', modern('tools/list', {}, { headers: { 'mcp-protocol-version': LEGACY } }), 400, -32020],
    ['no method header', modern('tools/list', {}, { headers: { 'mcp-method': undefined } }), 400, -32020],
    ['another method header', modern('tools/list', {}, { headers: { 'mcp-method': 'tools/call' } }), 400, -32020],
    ['no name header', modern('tools/call', say, { headers: { 'mcp-name': undefined } }), 400, -32020],
    ['another name header', modern('tools/call', say, { headers: { 'mcp-name': 'echo__other' } }), 400, -32020],
    ['a name in base64', modern('tools/call', say, { headers: { 'mcp-name': '=?base64?ZWNob19fc2F5?=' } }), 200],
    ['broken base64', modern('tools/call', say, { headers: { 'mcp-name': '=?base64?ZW-?=' } }), 400, -32020],
    [
      'an unknown version',
      modern(
        'tools/list',
        {},
        {
          headers: { 'mcp-protocol-version': '2099-01-01' },
          meta: { ...envelope(), [metaKeys.protocolVersion]: '2099-01-01' },
        },
      ),
      400,
      -32022,
    ],
    ['an unknown tool', modern('tools/call', { name: 'nobody__knows' }), 200, -32602],
    ['a call without a name', modern('tools/call', {}), 200, -32602],
    ['initialize in a modern envelope', modern('initialize'), 404, -32601],
    ['ping in a modern envelope', modern('ping'), 404, -32601],
    ['a method that was removed', modern('logging/setLevel', { level: 'info' }), 404, -32601],
    ['a name that every object has', modern('constructor'), 404, -32601],
    ['a cursor, where there is one page', modern('tools/list', { cursor: '' }), 200, -32602],
    ['a bad log level', modern('tools/list', {}, { meta: envelope({}, { [metaKeys.logLevel]: 'loud' }) }), 400, -32602],
    ['bad client info', modern('tools/list', {}, { meta: envelope({}, { [metaKeys.clientInfo]: 'me' }) }), 400, -32602],
    ['a missing resource', modern('resources/read', { uri: 'nowhere://x' }), 200, -32602],
    ['a null id', { body: '{"jsonrpc":"2.0","id":null,"method":"tools/list"}' }, 400, -32600],
    ['a fractional id', { body: '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}' }, 400, -32600],
    ['a batch', { body: `[${rpc('tools/list')}]` }, 400, -32600],
    ['an empty batch', { body: '[]' }, 400, -32600],
    ['JSON-RPC 1.0', { body: '{"id":1,"method":"tools/list"}' }, 400, -32600],
    ['params in a list', { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}' }, 400, -32602],
    ['no JSON', { body: '{"jsonrpc":' }, 400, -32700],
    ['nothing', { body: '' }, 400, -32700],
    ['another type', { body: rpc('tools/list'), headers: { 'content-type': 'text/plain' } }, 415, -32600],
    ['another charset', { body: 'x', headers: { 'content-type': 'application/json; charset=utf-16' } }, 415, -32600],
    ['a compressed body', { body: 'x', headers: { 'content-encoding': 'gzip' } }, 415, -32600],
    ['neither form accepted', { body: rpc('tools/list'), headers: { accept: 'text/html' } }, 406, -32600],
    ['GET', { method: 'GET' }, 405, -32600],
    ['DELETE', { method: 'DELETE' }, 405, -32600],
    ['PUT', { method: 'PUT', body: '{}' }, 405, -32600],
    [
      'a modern GET',
      { method: 'GET', headers: { 'mcp-protocol-version': MODERN, 'mcp-session-id': 'x' } },
      405,
      -32600,
    ],
    ['a response', { ...modern('x'), body: '{"jsonrpc":"2.0","id":1,"result":{}}' }, 400, -32600],
    ['another path', { path: '/', body: '{}' }, 404, -32600],
  ]
  for (const [what, sent, status, code] of table) {
    const got = await ask(url, sent)
    assert.equal(got.status, status, `${what}: ${got.text}`)
    assert.equal(errorOf(got)?.code, code, `${what}: ${got.text}`)
    if (code !== undefined && got.json['id'] !== null) assert.ok(isRequestId(got.json['id']), what)
  }
  assert.deepEqual(ports.faults, [])
})

test('errors carry what a client needs to do better', async (t) => {
  const { url } = await served(t)
  const meta = { ...envelope(), [metaKeys.protocolVersion]: '2099-01-01' }
  const version = await ask(url, modern('tools/list', {}, { meta, headers: { 'mcp-protocol-version': '2099-01-01' } }))
  assert.deepEqual(errorOf(version).data, { supported: [MODERN], requested: '2099-01-01' })
  const missing = await ask(url, modern('resources/read', { uri: 'nowhere://x' }))
  assert.equal(errorOf(missing).data?.['uri'], 'nowhere://x')
  const method = await ask(url, { method: 'GET' })
  assert.equal(method.headers.allow, 'POST')
})

test('notifications are taken with 202 and no body', async (t) => {
  const { url } = await served(t)
  const cancelled = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
  const bare = await ask(url, { body: cancelled, headers: { 'mcp-protocol-version': MODERN } })
  assert.deepEqual([bare.status, bare.text], [202, ''])
  const session = await initialized(url)
  const legacy = await ask(url, { body: '{"jsonrpc":"2.0","method":"notifications/initialized"}', headers: session })
  assert.deepEqual([legacy.status, legacy.text], [202, ''])
})

test('without a token that names a principal nothing is answered but 401', async (t) => {
  const { url, ports } = await served(t)
  const call = modern('tools/call', say)
  for (const authorization of [
    undefined,
    'Bearer mallory',
    'Bearer ',
    'Basic YWxpY2U6',
    'alice',
    'Bearer alice alice',
  ]) {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const got = await ask(url, { ...call, method, headers: { ...call.headers, authorization } })
      assert.equal(got.status, 401, String(authorization))
      assert.equal(got.headers['www-authenticate'], 'Bearer realm="countersign"')
    }
  }
  const query = await ask(url, {
    ...call,
    path: '/mcp?access_token=alice',
    headers: { ...call.headers, authorization: undefined },
  })
  assert.equal(query.status, 401)
  const stale = await ask(url, { ...call, headers: { ...call.headers, authorization: 'Bearer stale' } })
  assert.match(String(stale.headers['www-authenticate']), /error="invalid_token"/)
  assert.deepEqual(ports.calls, [])
})

test('a foreign Host or Origin is refused on every route, before the token is looked at', async (t) => {
  const { url, port } = await served(
    t,
    {},
    { allowedOrigins: ['https://console.example'], allowedHosts: ['gate.example'] },
  )
  const list = modern('tools/list')
  const foreign = [
    { host: 'evil.test' },
    { host: `evil.test:${port}` },
    { host: `127.0.0.1.evil.test:${port}` },
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { origin: `http://127.0.0.1:${port}.evil.test` },
    { host: `localhost:${port}`, origin: `http://127.0.0.1:${port}` },
  ]
  for (const headers of foreign) {
    for (const path of ['/mcp', '/healthz', '/nowhere']) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const got = await ask(url, { ...list, method, path, headers: { ...list.headers, ...headers } })
        assert.equal(got.status, 403, `${method} ${path} ${JSON.stringify(headers)}`)
      }
    }
  }
  const own = [
    { host: `localhost:${port}` },
    { host: `LOCALHOST:${port}` },
    { host: '[::1]' },
    { host: 'gate.example' },
    { origin: `http://127.0.0.1:${port}` },
    { origin: 'https://console.example' },
  ]
  for (const headers of own) {
    const got = await ask(url, { ...list, headers: { ...list.headers, ...headers } })
    assert.equal(got.status, 200, JSON.stringify(headers))
  }
})

test('the state of health is told to anybody here, and nothing else is', async (t) => {
  const { url } = await served(t)
  const got = await ask(url, { method: 'GET', path: '/healthz', headers: { authorization: undefined } })
  assert.deepEqual([got.status, got.text], [200, 'ok\n'])
})

test('an address that others can reach is not listened on unless that is said', async () => {
  const given = { port: 0, ports: new StandIn(), options: options() }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com']) {
    await assert.rejects(listen({ ...given, host }), RangeError, host)
  }
  const server = await listen({ ...given, host: '0.0.0.0', beyondLoopback: true })
  await server.close()
})

test('a body over the limit is answered 413, whether its length was told or not', async (t) => {
  const { url, port, ports } = await served(t, { messageBytes: 10_000 })
  const fits = { name: 'echo__say', arguments: { text: 'x'.repeat(9_000) } }
  assert.equal((await ask(url, modern('tools/call', fits))).status, 200)
  const body = rpc('tools/call', { name: 'echo__say', arguments: { text: 'x'.repeat(11_000) } })
  assert.equal((await ask(url, { body })).status, 413)
  const chunked = await ask(url, { body, headers: { 'transfer-encoding': 'chunked' } })
  assert.equal(chunked.status, 413)

  // An endless one is cut off: the sender gets its answer and then no more room.
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (piece) => (answer += piece.toString('latin1')))
  socket.on('error', () => {})
  // Not by `once`, which rejects on the error that the cut-off may be.
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer alice\r\nContent-Type: application/json\r\n`,
  )
  socket.write('Transfer-Encoding: chunked\r\n\r\n')
  const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`
  const pump = setInterval(() => socket.write(piece), 1)
  t.after(() => clearInterval(pump))
  await ended
  clearInterval(pump)
  assert.match(answer, /^HTTP\/1\.1 413 /)
  assert.equal(ports.calls.length, 1)
})

test('a body that does not come in time is answered 408, and others are served meanwhile', async (t) => {
  const { url, port } = await served(t, { intakeMs: 150 })
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (piece) => (answer += piece.toString('latin1')))
  socket.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer alice\r\n')
  socket.write('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jsonrpc"')
  const ended = once(socket, 'close')
  assert.equal((await ask(url, modern('tools/call', say))).status, 200)
  await ended
  assert.match(answer, /^HTTP\/1\.1 408 [^]*The body did not come in time/)
})

test('headers that do not come in time end the connection', async (t) => {
  const { port } = await served(t, { intakeMs: 150 })
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (piece) => (answer += piece.toString('latin1')))
  socket.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ')
  await once(socket, 'close')
  assert.match(answer, /^HTTP\/1\.1 408 /)
})

test('hostile bodies are refused before anything is called', async (t) => {
  const { url, ports } = await served(t)
  const deep = '['.repeat(100_000)
  const bodies: readonly (readonly [string | Buffer, number])[] = [
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo__say","name":"x"}}', -32600],
    [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo__say","arguments":{"a":1,"\\u0061":2}}}',
      -32600,
    ],
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${deep}`, -32600],
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"n":123456789012345678901}}}`, -32600],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), -32700],
    [Buffer.from('\ufeff{}'), -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}}', -32700],
    ['"text"', -32600],
    ['null', -32600],
  ]
  for (const [body, code] of bodies) {
    const got = await ask(url, { body })
    assert.deepEqual([got.status, errorOf(got).code], [400, code], String(body).slice(0, 80))
  }
  assert.deepEqual(ports.calls, [])
})

test('an argument that a tool wants mirrored must be in its header, and equal', async (t) => {
  const { url, ports } = await served(t)
  const properties = {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    n: { type: 'integer', 'x-mcp-header': 'N' },
  }
  ports.lists.tools = Buffer.from(JSON.stringify([definition('echo__say', properties)]))
  const status = async (args: Record<string, string | number>, headers: Record<string, string>) =>
    (await ask(url, modern('tools/call', { name: 'echo__say', arguments: args }, { headers }))).status
  assert.equal(await status({ region: 'eu' }, { 'mcp-param-region': 'eu' }), 200)
  assert.equal(await status({ region: 'é' }, { 'mcp-param-region': '=?base64?w6k=?=' }), 200)
  assert.equal(await status({ n: 42 }, { 'mcp-param-n': '42.0' }), 200)
  assert.equal(await status({}, {}), 200)
  assert.equal(await status({ region: 'eu' }, {}), 400)
  assert.equal(await status({ region: 'eu' }, { 'mcp-param-region': 'us' }), 400)
  assert.equal(await status({}, { 'mcp-param-region': 'us' }), 400)
  assert.equal(await status({ n: 42 }, { 'mcp-param-n': '0x2a' }), 400)
  assert.equal(await status({ region: 'é' }, { 'mcp-param-region': '=?base64?w6?=' }), 400)
})

test('only the revisions that were chosen are spoken', async (t) => {
  const onlyModern = await served(t, {}, { revisions: [MODERN] })
  const handshake = { body: rpc('initialize', { protocolVersion: LEGACY, capabilities: {} }) }
  const no = await ask(onlyModern.url, handshake)
  assert.deepEqual([no.status, errorOf(no).code, errorOf(no).data?.['supported']], [400, -32022, [MODERN]])
  assert.equal(errorOf(await ask(onlyModern.url, { body: rpc('tools/list') })).code, -32022)
  assert.equal((await ask(onlyModern.url, modern('tools/list'))).status, 200)

  const onlyLegacy = await served(t, {}, { revisions: ['2025-06-18'] })
  const yes = await ask(onlyLegacy.url, handshake)
  assert.equal((yes.json['result'] as Record<string, unknown>)['protocolVersion'], '2025-06-18')
  assert.equal((await ask(onlyLegacy.url, modern('server/discover'))).status, 400)
})

test('what breaks within us is said without details, and the next request is served', async (t) => {
  const { url, ports } = await served(t)
  Object.assign(ports.shelf, {
    list: () => {
      throw new Error('the password is hunter2')
    },
  })
  for (const sent of [modern('tools/call', say), modern('tools/list')]) {
    const got = await ask(url, sent)
    assert.equal(errorOf(got).code, -32603)
    assert.doesNotMatch(got.text, /hunter2/)
  }
  Object.assign(ports.identities, {
    verify: () => {
      throw new Error('the password is hunter2')
    },
  })
  assert.equal((await ask(url, modern('tools/list'))).status, 500)
  assert.equal(ports.faults.length, 3)
})

test('no other transport is to be had by asking for an upgrade', async (t) => {
  const { url } = await served(t)
  const headers = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'x',
  }
  assert.equal((await ask(url, { method: 'GET', headers })).status, 405)
  assert.equal((await ask(url, { method: 'GET', headers: { ...headers, origin: 'https://evil.test' } })).status, 403)
})
