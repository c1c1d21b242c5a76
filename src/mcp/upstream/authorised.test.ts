import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followingBrowser } from '../../../test/fixtures/oauth/browser.ts'
import { type Lies, startLiar } from '../../../test/fixtures/oauth/liar.ts'
import { connected, hold, permitFor, sending } from '../../../test/fixtures/servers/reach.ts'
import { memoryVault } from '../../identity/client/kept.ts'
import { UpstreamAuth } from '../../identity/client/upstream-auth.ts'
import { safeFetch } from '../../identity/safe-fetch/safe-fetch.ts'

async function world(lies: Lies, browser = true) {
  const liar = await startLiar(lies)
  const auth = new UpstreamAuth({
    server: liar.url,
    settings: { grant: 'authorization_code', dynamicRegistration: true },
    fetch: safeFetch({ reach: { loopback: true, hosts: [] } }),
    vault: memoryVault(),
    ...(browser && { browser: followingBrowser() }),
  })
  const reach = { kind: 'http', url: liar.url, headers: {}, auth } as const
  return { liar, auth, reach, [Symbol.asyncDispose]: () => liar[Symbol.asyncDispose]() }
}

const calls = (liar: { seen: readonly { rpc: string | undefined }[] }): number =>
  liar.seen.filter(({ rpc }) => rpc === 'tools/call').length

test('a server that wants a token gets one, and a call whose token was taken back is run once', async () => {
  await using site = await world({})
  await using upstream = await connected(site.reach)
  site.liar.revoke()
  const outcome = await upstream.send(permitFor('note'), sending())
  assert.equal(outcome.kind, 'reply')
  assert.equal(calls(site.liar), 2)
  assert.equal(site.liar.executed(), 1)
})

test('a step up goes before the second try, and ends when it brings nothing', async () => {
  await using site = await world({ wants: (method) => (method === 'tools/call' ? ['write'] : []) })
  await using upstream = await connected(site.reach)
  assert.equal((await upstream.send(permitFor('note'), sending())).kind, 'reply')
  assert.equal(site.liar.executed(), 1)

  let stubborn = false
  const first: Lies['first'] = (request, response) => {
    if (!stubborn || request.url !== '/mcp') return false
    response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' }).end()
    return true
  }
  await using other = await world({ first })
  await using again = await connected(other.reach)
  stubborn = true
  const before = other.liar.at('/authorize').length
  assert.equal((await again.send(permitFor('note'), sending())).kind, 'not-sent')
  assert.equal(other.liar.at('/authorize').length - before, 1)
})

test('a refusal that does not prove that nothing was done is not followed by a second try', async () => {
  for (const [status, headers] of [
    [401, {}],
    [401, { 'www-authenticate': 'Basic realm="x"' }],
    [403, { 'www-authenticate': 'Bearer scope="write"' }],
    [403, {}],
    [500, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' }],
    [307, { location: '/mcp' }],
  ] as const) {
    let refuse = false
    let refused = 0
    const first: Lies['first'] = (request, response) => {
      if (!refuse || request.url !== '/mcp') return false
      refused++
      response.writeHead(status, headers).end()
      return true
    }
    await using site = await world({ first })
    await using upstream = await connected(site.reach)
    refuse = true
    const outcome = await upstream.send(permitFor('note'), sending())
    assert.equal(outcome.kind, 'no-answer', `${status} ${JSON.stringify(headers)}`)
    assert.equal(refused, 1)
  }
})

test('without anybody to log in, the upstream is down with the reason, and nothing was sent that has to be looked into', async () => {
  await using site = await world({}, false)
  await using upstream = hold(site.reach)
  await upstream.settled
  assert.equal(upstream.state.kind, 'down')
  assert.match(upstream.state.kind === 'down' ? upstream.state.why : '', /wants authorization: a person has to log in/)
  assert.equal(site.liar.at('/authorize').length, 0)
})

test('a call that is refused for its token, where none can be got, is proved not to have happened', async () => {
  let closed = false
  await using site = await world({
    first: (request, response) => {
      if (!closed || request.url === '/mcp') return false
      response.writeHead(503).end()
      return true
    },
  })
  await using upstream = await connected(site.reach)
  closed = true
  site.liar.revoke()
  const outcome = await upstream.send(permitFor('note'), sending())
  assert.equal(outcome.kind, 'not-sent')
  assert.match(outcome.kind === 'not-sent' ? outcome.why : '', /wants authorization: .* cannot be read now/)
  assert.equal(calls(site.liar), 1)
  assert.equal(site.liar.executed(), 0)
})

test('a token goes to its own server and nowhere else', async () => {
  await using site = await world({})
  await using upstream = await connected(site.reach)
  await upstream.send(permitFor('note'), sending())
  for (const { path, authorization } of site.liar.seen)
    if (path !== '/mcp') assert.equal(authorization, undefined, path)
})
