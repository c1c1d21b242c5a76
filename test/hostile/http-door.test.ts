import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, tokenOf, wordFor } from './attack.ts'
import { callTool, door, modern, MODERN, modernMeta, rpc, session } from './client.ts'

const wild = join(import.meta.dirname, 'servers', 'wild.ts')
const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools: { pay: { effect: once, risk: low, repeat: allow }, text: { effect: read, risk: low } }
consent: { rules: [{ name: all passes, decision: allow }] }
`
async function open(t: TestContext): Promise<{ gateway: RunningGateway; site: Site; token: string }> {
  const site = makeSite(t, yaml)
  const gateway = await openApproved(t, site)
  return { site, gateway, token: tokenOf(site) }
}
const given = { key: 'k', mode: 'ok' }
const good = modern('tools/call', { name: 'a__pay', arguments: given })

/** Is anything left of the gateway after that? It has to serve an ordinary call, once. */
async function stillServes(gateway: RunningGateway, token: string, site: Site): Promise<void> {
  const before = effectsIn(site.effects).length
  const { text, status } = await callTool(gateway, token, 'a__pay', { key: 'after', mode: 'ok' })
  assert.equal(status, 200)
  assert.match(text, /"paid"/)
  assert.equal(effectsIn(site.effects).length, before + 1)
}

test('a key that stands twice, anywhere in the message, is refused before any gate', async (t) => {
  const { gateway, site, token } = await open(t)
  const meta = JSON.stringify(modernMeta())
  const twice = (text: string): string => text
  const bodies = {
    'top level': `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"a__pay","arguments":{"key":"k","mode":"ok"},"_meta":${meta}}}`,
    id: `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a__pay","arguments":{"key":"k","mode":"ok"},"_meta":${meta}}}`,
    params: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__text","name":"a__pay","arguments":{"key":"k","mode":"ok"},"_meta":${meta}}}`,
    'two params': `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__text"},"params":{"name":"a__pay","arguments":{"key":"k","mode":"ok"},"_meta":${meta}}}`,
    arguments: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":{"key":"x","key":"k","mode":"ok"},"_meta":${meta}}}`,
    'escaped arguments': `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":{"k\\u0065y":"x","key":"k","mode":"ok"},"_meta":${meta}}}`,
    _meta: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":{"key":"k","mode":"ok"},"_meta":${meta.replace('{', '{"a":1,"a":2,')}}}`,
    deeper: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":{"key":"k","mode":"ok","x":[{"a":{"b":1,"b":2}}]},"_meta":${meta}}}`,
  }
  const legacy = await session(gateway, token)
  for (const [what, body] of Object.entries(bodies)) {
    const inModern = await door(gateway, token, { headers: good.headers!, body: twice(body) })
    assert.ok(inModern.message['error'] !== undefined, `${what}: ${inModern.text}`)
    const inLegacy = await door(gateway, token, { headers: legacy, body: body.replace(`,"_meta":${meta}`, '') })
    if (what !== '_meta') assert.ok(inLegacy.message['error'] !== undefined, `${what}: ${inLegacy.text}`)
  }
  assert.deepEqual(effectsIn(site.effects), [])
  const trees: string[] = []
  for (const body of ['{"__proto__":{"key":"k"},"mode":"ok"}', '{"constructor":{"prototype":{"key":"k"}}}']) {
    const got = await door(gateway, token, {
      headers: good.headers!,
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":${body},"_meta":${meta}}}`,
    })
    trees.push(got.text)
  }
  assert.equal(({} as Record<string, unknown>)['key'], undefined)
  await stillServes(gateway, token, site)
})

test('depth, size and bytes that are no text are turned away at the door, and the next caller is served', async (t) => {
  const { gateway, site, token } = await open(t)
  const around = (text: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__pay","arguments":{"key":"k","mode":"ok","x":${text}},"_meta":${JSON.stringify(modernMeta())}}}`
  const bodies: [string, string | Buffer][] = [
    ['depth 100,000', around('['.repeat(100_000) + ']'.repeat(100_000))],
    ['objects, depth 20,000', around('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000))],
    ['unclosed', '['.repeat(500_000)],
    [
      'not UTF-8',
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]),
    ],
    ['a lone surrogate', around('"\\ud800"')],
    ['a number that loses digits', around('12345678901234567890')],
    ['a number out of range', around('1e999')],
    ['a byte order mark', `\ufeff${around('1')}`],
    ['a NUL', around('1').replace('"x"', '"x\u0000"')],
    ['a batch', `[${around('1')}]`],
    ['id null', around('1').replace('"id":1', '"id":null')],
    ['id in a list', around('1').replace('"id":1', '"id":[1]')],
    ['two texts', around('1') + around('1')],
    ['64 MB', Buffer.alloc(64 << 20, 0x20)],
    ['empty arrays', around(`[${'[],'.repeat(600_000)}[]]`)],
  ]
  const began = process.memoryUsage.rss()
  for (const [what, body] of bodies) {
    const got = await door(gateway, token, { headers: good.headers!, body }).catch((fault: Error) => fault)
    if (got instanceof Error) assert.equal(what, '64 MB', `${what}: ${got.message}`)
    else
      assert.ok(
        got.status >= 400 || got.message['error'] !== undefined || /isError":true/.test(got.text),
        `${what}: ${got.status} ${got.text.slice(0, 200)}`,
      )
  }
  assert.deepEqual(effectsIn(site.effects), [])
  assert.ok(process.memoryUsage.rss() - began < 400 << 20, 'more memory than all of the bodies together')
  await stillServes(gateway, token, site)
})

test('headers that say something else than the body stop a modern call', async (t) => {
  const { gateway, site, token } = await open(t)
  const wrong: Record<string, string | undefined>[] = [
    { 'mcp-name': 'a__text' },
    { 'mcp-name': undefined },
    { 'mcp-name': 'A__PAY' },
    { 'mcp-name': ' a__pay,a__text' },
    { 'mcp-method': 'tools/list' },
    { 'mcp-method': undefined },
    { 'mcp-protocol-version': '2025-11-25' },
    { 'mcp-protocol-version': undefined },
    { host: 'evil.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'content-type': 'text/plain' },
    { 'content-encoding': 'gzip' },
  ]
  for (const headers of wrong) {
    const got = await door(gateway, token, { ...good, headers: { ...good.headers, ...headers } })
    assert.ok(got.status >= 400, `${JSON.stringify(headers)}: ${got.status} ${got.text}`)
  }
  assert.deepEqual(effectsIn(site.effects), [])
  await stillServes(gateway, token, site)
})

/** Bytes on a bare socket; resolves with all that comes back until it is closed, or after so long. */
async function bytes(gateway: RunningGateway, text: string, ms = 700): Promise<string> {
  const { port, hostname } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let back = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (back += piece))
  socket.on('error', () => {})
  const closed = once(socket, 'close').catch(() => {})
  socket.write(text)
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, ms).unref())])
  socket.destroy()
  return back
}

test('a body that hides a second request brings no second effect', async (t) => {
  const { gateway, site, token } = await open(t)
  const { host } = new URL(gateway.url)
  const body = (key: string): string =>
    rpc('tools/call', { name: 'a__pay', arguments: { key, mode: 'ok' }, _meta: modernMeta() })
  const head = (...more: string[]): string =>
    [
      `POST /mcp HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Mcp-Protocol-Version: ${MODERN}`,
      'Mcp-Method: tools/call',
      'Mcp-Name: a__pay',
      ...more,
      '',
      '',
    ].join('\r\n')
  const hidden = head(`Content-Length: ${body('hidden').length}`) + body('hidden')
  const unsigned = hidden.replace(/Authorization.*\r\n/, '')
  const outer = body('outer')
  const tries: [string, string][] = [
    ['both lengths', head(`Content-Length: ${outer.length}`, 'Transfer-Encoding: chunked') + `0\r\n\r\n${hidden}`],
    [
      'two lengths',
      head(`Content-Length: ${outer.length}`, `Content-Length: ${outer.length + hidden.length}`) + outer + hidden,
    ],
    ['a coding nobody knows', head('Transfer-Encoding: chunked, identity') + `0\r\n\r\n${hidden}`],
    ['a length with a sign', head(`Content-Length: +${outer.length}`) + outer + hidden],
    ['a bare line feed', head(`Content-Length: 0\nX: y`) + hidden],
    [
      'two tokens',
      head(`Authorization: Bearer nobody`, `Content-Length: ${outer.length}`).replace(`Bearer ${token}`, 'Bearer x') +
        outer,
    ],
    ['a token for the first only', head(`Content-Length: 2`) + '{}' + unsigned],
  ]
  for (const [what, text] of tries) {
    await bytes(gateway, text)
    // A second request that is well formed and carries the token is a request of its own, on a connection that is kept.
    assert.ok(
      effectsIn(site.effects).every((key) => key === 'outer'),
      `${what}: ${effectsIn(site.effects).join()}`,
    )
  }
  await stillServes(gateway, token, site)
})

test('a body that never ends keeps nobody else waiting', async (t) => {
  const { gateway, site, token } = await open(t)
  const { port, hostname, host } = new URL(gateway.url)
  const sockets = Array.from({ length: 50 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"`,
    )
    return socket
  })
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  const began = performance.now()
  await stillServes(gateway, token, site)
  assert.ok(performance.now() - began < 2000)
})

test('two hundred calls at once under the same JSON-RPC id each get their own answer, in both eras', async (t) => {
  const { gateway, token } = await open(t)
  const headers = await session(gateway, token)
  const texts = Array.from({ length: 200 }, (_, n) => `word-${n}-`)
  const answers = await Promise.all(
    texts.map((word, n) => {
      const params = { name: 'a__text', arguments: { bytes: 40, word } }
      return door(
        gateway,
        token,
        n % 2 === 0 ? modern('tools/call', params) : { headers, body: rpc('tools/call', params) },
      )
    }),
  )
  for (const [n, { text, message }] of answers.entries()) {
    assert.equal(message['id'], 1)
    const refusedForLoad = /TOO_MANY_AT_ONCE/.test(text)
    assert.ok(refusedForLoad || text.includes(`word-${n}-word-${n}-`), `${n}: ${text}`)
    assert.ok(!texts.some((word, other) => other !== n && text.includes(`"${word}`)), `${n} got another's answer`)
  }
  assert.equal(wordFor(await call(gateway, 'a/pay', given)), 'answered:succeeded')
})
