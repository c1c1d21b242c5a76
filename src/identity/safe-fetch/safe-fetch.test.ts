import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { isPublic } from './address.ts'
import { answers, literals } from './cases.fixture.ts'
import { SafeFetchFault } from './fault.ts'
import { safeFetch, type SafeFetchRules } from './safe-fetch.ts'

let server: Server
let port: number
let reached = 0
let listener: RequestListener
const here = { loopback: true, hosts: [] }

before(async () => {
  server = createServer((request, response) => {
    reached++
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
after(() => {
  server.closeAllConnections()
  server.close()
})

async function code(url: string, rules: SafeFetchRules, request = {}): Promise<string> {
  try {
    await safeFetch({ timeoutMs: 5000, ...rules })(url, request)
    return 'fetched'
  } catch (fault) {
    assert.ok(fault instanceof SafeFetchFault, String(fault))
    return fault.code
  }
}

test('no spelling of an address that is not public is dialled, with a port that listens or without', async () => {
  reached = 0
  listener = (_request, response) => response.end('{}')
  for (const host of literals) {
    const wrong = await code(`https://${host}/`, {})
    assert.equal(wrong, 'ADDRESS_REFUSED', host)
    // Even a port that the operator named for another host opens nothing.
    assert.notEqual(
      await code(`https://${host}:${port}/`, { reach: { loopback: false, hosts: ['a.test'] } }),
      'fetched',
    )
    assert.equal(await code(`http://${host}:${port}/`, {}), 'URL_REFUSED', host)
  }
  assert.equal(reached, 0)
})

test('a name is refused when any of its addresses is not public', async () => {
  reached = 0
  for (const found of answers) {
    const rules = { resolve: async () => found }
    const wrong = await code('https://somewhere.example/', rules)
    assert.equal(wrong, found.length === 0 ? 'UNREACHABLE' : 'ADDRESS_REFUSED', found.join())
  }
  assert.equal(reached, 0)
})

test('loopback opens for loopback names only: another name that resolves there stays closed', async () => {
  listener = (_request, response) => response.end('{}')
  reached = 0
  const rules = { reach: here, resolve: async () => ['127.0.0.1'] }
  assert.equal(await code(`http://127.0.0.1:${port}/`, rules), 'fetched')
  assert.equal(await code(`http://localhost:${port}/`, rules), 'fetched')
  assert.equal(reached, 2)
  assert.equal(await code(`http://inside.example:${port}/`, rules), 'URL_REFUSED')
  assert.equal(await code('https://inside.example/', rules), 'ADDRESS_REFUSED')
  assert.equal(await code('https://169.254.169.254/', rules), 'ADDRESS_REFUSED')
  assert.equal(reached, 2)
})

test('what the operator named may be private, and never link-local', async () => {
  const reach = { loopback: false, hosts: ['login.corp.example:444'] }
  // It is dialled: nothing on that port speaks TLS here.
  const dialled = await code('https://login.corp.example:444/', { reach, resolve: async () => ['127.0.0.1'] })
  assert.equal(dialled, 'UNREACHABLE')
  const metadata = await code('https://login.corp.example:444/', { reach, resolve: async () => ['169.254.169.254'] })
  assert.equal(metadata, 'ADDRESS_REFUSED')
  assert.equal(
    await code('https://login.corp.example:445/', { reach, resolve: async () => ['10.0.0.1'] }),
    'URL_REFUSED',
  )
})

test('a name that changes its address between two look-ups is looked up once a connection, and judged each time', async () => {
  reached = 0
  let looked = 0
  const rules = { resolve: async () => (looked++ === 0 ? ['192.0.2.7'] : ['127.0.0.1']) }
  assert.equal(await code('https://rebinding.example/', rules), 'ADDRESS_REFUSED')
  assert.equal(await code('https://rebinding.example/', rules), 'ADDRESS_REFUSED')
  assert.equal(looked, 2)
  assert.equal(reached, 0)
})

test('only https, no credentials, no ports of other services', async () => {
  for (const url of [
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:application/json,{}',
    'https://user:pass@example.com/',
    'https://example.com:6379/',
    'https://example.com:22/',
    'nonsense',
    '',
  ])
    assert.equal(await code(url, { resolve: async () => ['93.184.215.14'] }), 'URL_REFUSED', url)
})

test('redirects: judged like the first, few, never for what was posted, without credentials for another origin', async () => {
  const seen: (string | undefined)[] = []
  listener = (request, response) => {
    const to = new URL(request.url!, 'http://x').searchParams.get('to')
    seen.push(request.headers.authorization)
    if (to === null) response.end('{}')
    else response.writeHead(302, { location: to }).end()
  }
  const at = (to: string) => `http://127.0.0.1:${port}/?to=${encodeURIComponent(to)}`
  for (const to of ['https://169.254.169.254/', 'https://[::ffff:10.0.0.1]/', 'https://0x7f.0.0.1.nip.example/'])
    assert.equal(await code(at(to), { reach: here, resolve: async () => ['10.0.0.1'] }), 'ADDRESS_REFUSED', to)
  for (const to of ['file:///etc/passwd', 'http://example.com/'])
    assert.equal(await code(at(to), { reach: here }), 'URL_REFUSED', to)
  let around = `http://127.0.0.1:${port}/`
  for (let n = 0; n < 4; n++) around = at(around)
  assert.equal(await code(around, { reach: here }), 'REDIRECT_REFUSED')
  assert.equal(await code(at('/'), { reach: here }, { method: 'POST', body: 'code=1' }), 'REDIRECT_REFUSED')

  seen.length = 0
  const headers = { authorization: 'Bearer canary' }
  assert.equal(await code(at('/'), { reach: here }, { headers }), 'fetched')
  assert.deepEqual(seen, ['Bearer canary', 'Bearer canary'])
  seen.length = 0
  assert.equal(
    await code(at(`http://localhost:${port}/`), { reach: here, resolve: async () => ['127.0.0.1'] }, { headers }),
    'fetched',
  )
  assert.deepEqual(seen, ['Bearer canary', undefined])
})

test('size, time, coding and type are limits', async () => {
  const url = `http://127.0.0.1:${port}/`
  listener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65536)));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }
  assert.equal(await code(url, { reach: here, maxBytes: 100_000 }), 'TOO_LARGE')
  listener = (_request, response) => void response.writeHead(200).write('{')
  assert.equal(await code(url, { reach: here, timeoutMs: 300 }), 'TOO_SLOW')
  listener = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('bomb')
  assert.equal(await code(url, { reach: here }), 'CONTENT_REFUSED')
  listener = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
  assert.equal(await code(url, { reach: here, contentTypes: ['application/json'] }), 'CONTENT_REFUSED')
  const own = new AbortController()
  own.abort(new Error('not any more'))
  await assert.rejects(safeFetch({ reach: here })(url, { signal: own.signal }), /not any more/)
})

test('proxies of the environment are not asked', async () => {
  listener = (request, response) => response.end(JSON.stringify({ url: request.url }))
  const kept = { ...process.env }
  Object.assign(process.env, {
    https_proxy: `http://127.0.0.1:${port}`,
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    NODE_USE_ENV_PROXY: '1',
  })
  try {
    reached = 0
    assert.equal(await code('https://somewhere.example/', { resolve: async () => ['10.0.0.1'] }), 'ADDRESS_REFUSED')
    assert.equal(reached, 0)
  } finally {
    process.env = kept
  }
})

test('ordinary addresses are public', () => {
  for (const address of ['93.184.215.14', '8.8.8.8', '2606:4700:4700::1111', '64:ff9b::808:808', '::ffff:8.8.8.8'])
    assert.equal(isPublic(address), true, address)
})
