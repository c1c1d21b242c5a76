import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { fixture, makeSite } from '../fixtures/site.ts'
import { openApproved, tokenOf } from '../hostile/attack.ts'
import { callTool, door, type Got, LEGACY, modern, MODERN, modernMeta, rpc, session } from '../hostile/client.ts'

async function open(t: TestContext): Promise<{ gateway: RunningGateway; token: string }> {
  const site = makeSite(
    t,
    () => `
servers:
  a: { command: node, args: [${fixture('honest')}], resources: allow, tools: { echo: { effect: read } } }
consent: { rules: [{ name: all passes, decision: allow }] }
`,
  )
  return { gateway: await openApproved(t, site), token: tokenOf(site) }
}
const code = ({ message }: Got): unknown => (message['error'] as { code?: unknown } | undefined)?.code

test('the errors of the newer era have its numbers and their statuses', async (t) => {
  const { gateway, token } = await open(t)
  const ask = (method: string, params = {}, more = {}) => door(gateway, token, modern(method, params, more))
  const other = { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' }
  const rows: [string, Got, number, number][] = [
    ['another method in the header', await ask('tools/list', {}, { headers: { 'mcp-method': 'x' } }), 400, -32020],
    ['no method in the header', await ask('tools/list', {}, { headers: { 'mcp-method': undefined } }), 400, -32020],
    ['another name', await ask('tools/call', { name: 'a__echo' }, { headers: { 'mcp-name': 'b' } }), 400, -32020],
    [
      'a revision of the future',
      await ask('tools/list', {}, { meta: other, headers: { 'mcp-protocol-version': '2027-01-01' } }),
      400,
      -32022,
    ],
    ['a method that nobody has', await ask('tools/nothing'), 404, -32601],
    ['initialize in a modern envelope', await ask('initialize', { protocolVersion: LEGACY }), 404, -32601],
    ['ping in a modern envelope', await ask('ping'), 404, -32601],
    [
      'a batch',
      await door(gateway, token, { ...modern('tools/list'), body: `[${rpc('tools/list', { _meta: modernMeta() })}]` }),
      400,
      -32600,
    ],
    ['what is no JSON', await door(gateway, token, { ...modern('tools/list'), body: '{' }), 400, -32700],
  ]
  for (const [what, got, status, number] of rows)
    assert.deepEqual([got.status, code(got)], [status, number], `${what}: ${got.text}`)
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const got = await door(gateway, token, { method, headers: { 'mcp-protocol-version': MODERN } })
    assert.equal(got.status, 405, method)
    assert.equal(got.headers['allow'], 'POST')
  }
  // The handshake that asks for the newer era is negotiated down, and is never an error.
  const hello = { protocolVersion: MODERN, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const down = await door(gateway, token, { body: rpc('initialize', hello) })
  assert.equal((down.message['result'] as { protocolVersion: string }).protocolVersion, LEGACY)
})

test('whatever depends on the caller is private to it, and says how long it may be kept', async (t) => {
  const { gateway, token } = await open(t)
  const methods = ['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']
  for (const method of methods) {
    const { message, text } = await door(gateway, token, modern(method))
    const { cacheScope, ttlMs } = message['result'] as { cacheScope?: string; ttlMs?: number }
    assert.deepEqual([cacheScope, typeof ttlMs], ['private', 'number'], `${method}: ${text}`)
  }
  const read = await door(gateway, token, modern('resources/read', { uri: 'note://hello' }))
  const { cacheScope, ttlMs } = read.message['result'] as { cacheScope?: string; ttlMs?: number }
  assert.deepEqual([cacheScope, ttlMs], ['private', 0])
})

test('an id of any legal type comes back as it was sent, zero and the empty text among them', async (t) => {
  const { gateway, token } = await open(t)
  const headers = await session(gateway, token)
  for (const id of [0, -1, 1, 2 ** 53 - 1, '', '0', 'ä', 'x'.repeat(200)]) {
    const params = { name: 'a__echo', arguments: { text: 'hi' } }
    const inModern = await callTool(gateway, token, 'a__echo', { text: 'hi' }, { id })
    const inLegacy = await door(gateway, token, { headers, body: rpc('tools/call', params, id) })
    for (const got of [inModern, inLegacy]) {
      assert.ok('result' in got.message, got.text)
      assert.equal(got.message['id'], id)
    }
  }
})

test('headers beyond the limit are answered 431 and the connection ends; the next caller is served', async (t) => {
  const { gateway, token } = await open(t)
  const { port, hostname, host } = new URL(gateway.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  let back = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (back += piece))
  socket.write(`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nX-Much: ${'x'.repeat(40_000)}\r\n\r\n`)
  await once(socket, 'close')
  assert.match(back, /^HTTP\/1\.1 431 /)
  assert.equal((await callTool(gateway, token, 'a__echo', { text: 'x' })).status, 200)
})

test('a session that is unknown, another principal’s, or ended is 404, and says what to do', async (t) => {
  const { gateway, token } = await open(t)
  const headers = await session(gateway, token)
  assert.equal((await door(gateway, token, { method: 'DELETE', headers })).status, 204)
  for (const id of [headers['mcp-session-id']!, 'f'.repeat(32), 'x']) {
    const got = await door(gateway, token, { headers: { ...headers, 'mcp-session-id': id }, body: rpc('tools/list') })
    assert.equal(got.status, 404)
    assert.match(got.text, /initialize again/)
  }
})
