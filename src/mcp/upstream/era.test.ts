import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { hold } from '../../../test/fixtures/servers/reach.ts'
import {
  discovered,
  initialized,
  scripted,
  unknownMethod,
  type Heard,
} from '../../../test/fixtures/servers/scripted.ts'
import type { UpstreamSpec } from './upstream.ts'

const modernError = (code: number, data?: object): object => ({ error: { code, message: 'no', ...(data && { data }) } })

/** Connects to the script, and answers what was agreed (or why not) and which methods were called for it. */
async function negotiate(
  answers: Record<string, object | undefined>,
  more: Partial<UpstreamSpec> = {},
): Promise<[string, string[]]> {
  const methods: string[] = []
  const reach = scripted(({ method }) => {
    methods.push(method)
    return answers[method]
  })
  await using upstream = hold(reach, more, { probeTimeoutMs: 50, pauses: { firstMs: 10_000, mostMs: 10_000 } })
  await upstream.settled
  const { state } = upstream
  return [
    state.kind === 'ready' ? state.negotiated.revision : state.kind === 'down' ? state.why : state.kind,
    [...methods],
  ]
}

const legacyMethods = ['server/discover', 'initialize', 'notifications/initialized']

test('the newer era is asked for first, and spoken where the server answers with it', async () => {
  assert.deepEqual(await negotiate({ 'server/discover': discovered }), ['2026-07-28', ['server/discover']])
})

test('on a pipe any error that is not of the newer era, and silence, lead to initialize on the same pipe', async () => {
  for (const answer of [
    unknownMethod,
    { error: { code: -32602, message: 'x' } },
    { result: {} },
    { result: 'odd' },
    undefined,
  ]) {
    const found = await negotiate({ 'server/discover': answer, initialize: initialized() })
    assert.deepEqual(found, ['2025-11-25', legacyMethods], JSON.stringify(answer))
  }
})

test('an error of the newer era is proof of it: there is no falling back', async () => {
  for (const code of [-32020, -32021]) {
    const [why, methods] = await negotiate({ 'server/discover': modernError(code), initialize: initialized() })
    assert.match(why, new RegExp(String(code)))
    assert.deepEqual(methods, ['server/discover'])
  }
})

test('a server that lists what it speaks is spoken to in one of those revisions, or not at all', async () => {
  const supports = (...supported: string[]): object => modernError(-32022, { supported, requested: '2026-07-28' })
  const script = (discover: object): Record<string, object> => ({
    'server/discover': discover,
    initialize: initialized(),
  })
  assert.deepEqual(await negotiate(script(supports('2025-11-25'))), ['2025-11-25', legacyMethods])
  const none = 'the server speaks no revision that may be spoken here'
  assert.deepEqual(await negotiate(script(supports('2027-01-01'))), [none, ['server/discover']])
  assert.match((await negotiate(script(supports('2026-07-28'))))[0], /-32022/)
  const listed = { result: { supportedVersions: ['2024-11-05', '2025-11-25'], capabilities: {} } }
  assert.deepEqual(await negotiate(script(listed)), ['2025-11-25', legacyMethods])
})

test('only the revisions that are pinned are spoken', async () => {
  const both = { 'server/discover': discovered, initialize: initialized('2025-06-18') }
  assert.deepEqual(await negotiate(both, { revisions: ['2025-06-18'] }), ['2025-06-18', legacyMethods.slice(1)])
  assert.deepEqual(await negotiate(both, { revisions: ['2026-07-28'] }), ['2026-07-28', ['server/discover']])
  const old = { 'server/discover': unknownMethod, initialize: initialized() }
  assert.match((await negotiate(old, { revisions: ['2026-07-28'] }))[0], /no revision that may be spoken/)
  assert.match((await negotiate(both, { revisions: ['2025-11-25'] }))[0], /chose a revision that may not be spoken/)
})

test('an era that is known already is tried first, and the other one where the server refuses it', async () => {
  const both = { 'server/discover': discovered, initialize: initialized() }
  assert.deepEqual(await negotiate(both, { knownEra: 'legacy' }), ['2025-11-25', legacyMethods.slice(1)])
  const only = { 'server/discover': discovered, initialize: modernError(-32022, { supported: ['2026-07-28'] }) }
  assert.deepEqual(await negotiate(only, { knownEra: 'legacy' }), ['2026-07-28', ['initialize', 'server/discover']])
})

test('a server that ends at a first message that it does not know is asked for the older era first the next time', async () => {
  const program = `
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      if (method === 'server/discover') process.exit(1)
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} }
      if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })`
  await using upstream = hold({ kind: 'stdio', command: process.execPath, args: ['-e', program], cwd: '/', env: {} })
  await upstream.settled
  assert.equal(upstream.state.kind, 'down')
  await new Promise<void>((resolve) => void upstream.onState(({ kind }) => kind === 'ready' && resolve()))
})

/** An HTTP endpoint that answers each method with a status and a body. */
async function httpScript(methods: string[], script: Record<string, [number, string]>): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id = 0, method } = JSON.parse(Buffer.concat(chunks).toString()) as Heard
      methods.push(method)
      const [status, body] = script[method] ?? [202, '']
      const headers = { 'content-type': 'application/json', location: '/other' }
      response.writeHead(status, headers).end(body.replace('$id', String(id)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function negotiateHttp(script: Record<string, [number, string]>): Promise<[string, string[]]> {
  const methods: string[] = []
  const server = await httpScript(methods, script)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  try {
    await using upstream = hold(
      { kind: 'http', url, headers: {} },
      { connectTimeoutMs: 500 },
      { pauses: { firstMs: 10_000, mostMs: 10_000 } },
    )
    await upstream.settled
    const { state } = upstream
    return [
      state.kind === 'ready' ? state.negotiated.revision : state.kind === 'down' ? state.why : state.kind,
      [...methods],
    ]
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const error = (code: number, id = '$id'): string =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":"no"}}`
const answersInitialize: [number, string] = [200, JSON.stringify({ jsonrpc: '2.0', id: 2, ...initialized() })]

test('over HTTP an answer that shows no newer era leads to initialize', async () => {
  const answers: [number, string][] = [
    [400, error(-32000, 'null')],
    [400, 'Bad Request'],
    [400, error(-32600)],
    [404, error(-32601)],
    [404, ''],
    [405, ''],
    [406, ''],
    [200, error(-32601)],
  ]
  for (const answer of answers) {
    const found = await negotiateHttp({ 'server/discover': answer, initialize: answersInitialize })
    assert.deepEqual(found, ['2025-11-25', legacyMethods], String(answer))
  }
})

test('over HTTP an error of the newer era in the body of a 400 is proof of it, also without an id', async () => {
  for (const body of [error(-32020), error(-32020, 'null'), error(-32021)]) {
    const [why, methods] = await negotiateHttp({ 'server/discover': [400, body], initialize: answersInitialize })
    assert.match(why, /-3202[01]/)
    assert.deepEqual(methods, ['server/discover'])
  }
})

test('401, 403, 429, 5xx, redirects and silence say nothing of the era', async () => {
  for (const status of [401, 403, 429, 500, 503, 307]) {
    const [why, methods] = await negotiateHttp({
      'server/discover': [status, error(-32601)],
      initialize: answersInitialize,
    })
    assert.match(why, new RegExp(`HTTP ${status}`))
    assert.deepEqual(methods, ['server/discover'])
  }
})
