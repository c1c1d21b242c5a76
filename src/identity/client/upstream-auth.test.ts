import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followingBrowser } from '../../../test/fixtures/oauth/browser.ts'
import { type Lies, startLiar } from '../../../test/fixtures/oauth/liar.ts'
import { Secret } from '../../words/secret.ts'
import { safeFetch } from '../safe-fetch/safe-fetch.ts'
import { challengeOf } from './challenge.ts'
import { memoryVault } from './kept.ts'
import type { ClientSettings } from './settings.ts'
import { UpstreamAuth } from './upstream-auth.ts'

const dynamic: ClientSettings = { grant: 'authorization_code', dynamicRegistration: true }
const refused = challengeOf('Bearer')!

async function world(lies: Lies = {}, settings: ClientSettings = dynamic, now = Date.now) {
  const liar = await startLiar(lies)
  const vault = memoryVault()
  const fetch = safeFetch({ reach: { loopback: true, hosts: [] }, timeoutMs: 5000 })
  const browser = followingBrowser()
  const auth = new UpstreamAuth({ server: liar.url, settings, fetch, vault, browser, now })
  return { liar, auth, vault, [Symbol.asyncDispose]: () => liar[Symbol.asyncDispose]() }
}

/** Tries to get a token, and answers why there is none. */
async function why(lies: Lies, settings = dynamic): Promise<string> {
  await using site = await world(lies, settings)
  const again = await site.auth.challenged(refused, 401, undefined)
  assert.equal(again, site.auth.current() !== undefined)
  // Whatever was wrong, no code and no credential went to the token endpoint.
  if (!again) assert.equal(site.liar.at('/token').filter(({ form }) => form.has('code')).length, 0)
  return site.auth.state.problem ?? 'logged in'
}

test('a login asks with PKCE, state and resource, and keeps the tokens under their issuer', async () => {
  await using site = await world()
  assert.equal(await site.auth.challenged(refused, 401, undefined), true)
  const [asked] = site.liar.at('/authorize')
  assert.equal(asked!.query.get('code_challenge_method'), 'S256')
  assert.match(asked!.query.get('code_challenge')!, /^[\w-]{43}$/)
  assert.ok(asked!.query.get('state')!.length >= 32)
  assert.equal(asked!.query.get('resource'), site.liar.url)
  assert.equal(asked!.query.get('scope'), 'notes')
  const [redeemed] = site.liar.at('/token')
  assert.equal(redeemed!.form.get('resource'), site.liar.url)
  assert.equal(site.vault.read().tokens?.issuer, site.liar.origin)
})

test('documents that lie end the attempt before anything is sent', async () => {
  const at = (resource: Lies['resource'], server?: Lies['server']): Lies => ({
    ...(resource && { resource }),
    ...(server && { server }),
  })
  const honestElsewhere = at(() => ({ resource: 'https://honest.example/mcp' }))
  assert.match(await why(honestElsewhere), /about another resource/)
  assert.match(await why(at((self) => ({ resource: `${self}/mcp/` }))), /about another resource/)
  // The document with the path in its address is about that path, and not about all of the origin.
  assert.match(await why(at((self) => ({ resource: self }))), /about another resource/)
  assert.match(await why(at(() => ({ authorization_servers: [] }))), /names no authorization server/)
  assert.match(await why(at(() => ({ authorization_servers: 'x' }))), /names no authorization server/)
  assert.match(await why(at(() => ({ authorization_servers: ['https://169.254.169.254'] }))), /not public/)
  assert.match(await why(at(() => ({ authorization_servers: ['https://[::ffff:10.0.0.1]'] }))), /not public/)
  assert.match(await why(at(() => ({ authorization_servers: ['file:///etc/passwd'] }))), /not the URL of an issuer/)
  assert.match(await why(at((self) => ({ authorization_servers: [`${self}/`] }))), /that of another issuer/)
  assert.match(await why(at((self) => ({ authorization_servers: [`${self}?a=b`] }))), /not the URL of an issuer/)

  const server = (document: Lies['server']): Lies => at(undefined, document)
  for (const issuer of ['https://evil.example', '', null])
    assert.match(await why(server(() => ({ issuer }))), /that of another issuer/)
  assert.match(await why(server((self) => ({ issuer: self.replace('http', 'HTTP') }))), /that of another issuer/)
  for (const methods of [undefined, [], ['plain'], 'S256'])
    assert.match(await why(server(() => ({ code_challenge_methods_supported: methods ?? null }))), /PKCE with S256/)
  for (const endpoint of [
    'javascript:alert(1)',
    'file:///bin/sh',
    'http://evil.example/a',
    'https://a b',
    'vscode://x',
    '$(id)',
  ])
    assert.match(await why(server(() => ({ authorization_endpoint: endpoint }))), /not an https URL/)
  for (const endpoint of ['https://10.0.0.1/token', 'https://169.254.169.254/token'])
    assert.match(await why(server(() => ({ registration_endpoint: endpoint }))), /not public/)
  assert.match(await why(server(() => ({ padding: 'x'.repeat(300_000) }))), /more than 262144 bytes/)
})

test('the challenge leads to no address that is not public, and to no page that redirects there', async () => {
  for (const url of ['http://169.254.169.254/latest', 'https://10.0.0.1/x', 'https://[::1]/', 'gopher://a/'])
    assert.doesNotMatch(await whyChallenged(`Bearer resource_metadata="${url}"`), /logged in/)
  const first: Lies['first'] = (request, response) => {
    if (request.url !== '/hop') return false
    response.writeHead(302, { location: 'https://169.254.169.254/' }).end()
    return true
  }
  assert.match(await whyChallenged('Bearer resource_metadata="SELF/hop"', { first }), /not public/)
})

async function whyChallenged(header: string, lies: Lies = {}): Promise<string> {
  await using site = await world(lies)
  await site.auth.challenged(challengeOf(header.replace('SELF', site.liar.origin))!, 401, undefined)
  return site.auth.state.problem ?? 'logged in'
}

test('answers of the browser that are not the ones to our question are thrown away', async () => {
  const back = (change: NonNullable<Lies['back']>, server?: Lies['server']): Lies => ({
    back: change,
    ...(server && { server }),
  })
  assert.match(await why(back((query) => query.set('state', 'guessed'))), /\(state\)/)
  assert.match(await why(back((query) => query.delete('state'))), /\(state\)/)
  assert.match(await why(back((query) => query.append('state', 'x'))), /something twice/)
  assert.match(await why(back((query) => query.append('code', 'x'))), /something twice/)
  assert.match(await why(back((query) => query.delete('iss'))), /does not say which/)
  for (const iss of ['https://evil.example', 'SELF/', 'SELF '])
    assert.match(
      await why(back((query, self) => query.set('iss', iss.replace('SELF', self)))),
      /another authorization server/,
    )
  const silent = { authorization_response_iss_parameter_supported: false }
  assert.match(
    await why(
      back(
        (query) => query.set('iss', 'https://evil.example'),
        () => silent,
      ),
    ),
    /another authorization server/,
  )
  assert.equal(
    await why(
      back(
        (query) => query.delete('iss'),
        () => silent,
      ),
    ),
    'logged in',
  )
  // An error text is a stranger's; of another issuer not even the code is shown.
  const refusing = (iss: string) => (query: URLSearchParams, self: string) => {
    query.delete('code')
    query.set('error', 'access_denied')
    query.set('error_description', 'CALL 555-CANARY')
    query.set('iss', iss.replace('SELF', self))
  }
  assert.equal(await why(back(refusing('SELF'))), 'the authorization server refused the login (access_denied)')
  assert.doesNotMatch(await why(back(refusing('https://evil.example'))), /access_denied|CANARY/)
})

test('a client of one authorization server is not shown to another', async () => {
  const client = { id: 'by-hand', secret: new Secret('canary-client-secret') }
  await using site = await world({}, { ...dynamic, client, issuer: 'https://login.example' })
  assert.equal(await site.auth.challenged(refused, 401, undefined), false)
  assert.match(site.auth.state.problem!, /does not name the authorization server of the configuration/)
  assert.equal(site.liar.at('/authorize').length + site.liar.at('/token').length, 0)
})

test('we register ourselves only where that is allowed', async () => {
  assert.match(await why({}, { ...dynamic, dynamicRegistration: false }), /does not allow it/)
  assert.match(
    await why({ server: () => ({ registration_endpoint: null }) }),
    /not an https URL|registered there by hand/,
  )
})

test('one refresh for many that wait, with the same resource, and the rotated token is kept', async () => {
  let now = Date.now()
  await using site = await world({}, dynamic, () => now)
  await site.auth.challenged(refused, 401, undefined)
  const old = site.auth.current()
  now += 3_590_000
  const got = await Promise.all(Array.from({ length: 20 }, async () => site.auth.authorization()))
  assert.equal(new Set(got).size, 1)
  assert.notEqual(got[0], old)
  const refreshes = site.liar.at('/token').filter(({ form }) => form.get('grant_type') === 'refresh_token')
  assert.equal(refreshes.length, 1)
  assert.equal(refreshes[0]!.form.get('resource'), site.liar.url)
  now += 3_590_000
  await site.auth.authorization()
  assert.equal(site.liar.at('/authorize').length, 1)
})

test('a refresh that cannot be reached sends nobody to a browser, and keeps the refresh token', async () => {
  let now = Date.now()
  const token: Lies['token'] = (form) => (form.has('refresh_token') ? { status: 503, body: {} } : undefined)
  await using site = await world({ token }, dynamic, () => now)
  await site.auth.challenged(refused, 401, undefined)
  const used = site.auth.current()
  now += 4_000_000
  assert.equal(await site.auth.challenged(refused, 401, used), false)
  assert.match(site.auth.state.problem!, /could not be refreshed/)
  assert.equal(site.liar.at('/authorize').length, 1)
  assert.ok(site.vault.read().tokens?.refresh)
})

test('a client that is not known any more is registered once more, and not in a loop', async () => {
  const token: Lies['token'] = (form) =>
    form.has('refresh_token') ? { status: 401, body: { error: 'invalid_client' } } : undefined
  await using site = await world({ token })
  await site.auth.challenged(refused, 401, undefined)
  assert.equal(await site.auth.challenged(refused, 401, site.auth.current()), true)
  assert.equal(site.liar.at('/register').length, 2)
})

test('a step up asks for the union, and not for what is there already', async () => {
  await using site = await world()
  await site.auth.challenged(refused, 401, undefined)
  const more = challengeOf('Bearer error="insufficient_scope", scope="write"')!
  assert.equal(await site.auth.challenged(more, 403, site.auth.current()), true)
  assert.equal(site.liar.at('/authorize')[1]!.query.get('scope'), 'notes write')
  assert.equal(await site.auth.challenged(more, 403, site.auth.current()), false)
  assert.equal(site.liar.at('/authorize').length, 2)
})

test('scopes of the configuration are a ceiling', async () => {
  await using site = await world({}, { ...dynamic, scopes: ['notes'] })
  await site.auth.challenged(refused, 401, undefined)
  const more = challengeOf('Bearer error="insufficient_scope", scope="admin"')!
  assert.equal(await site.auth.challenged(more, 403, site.auth.current()), false)
  assert.match(site.auth.state.problem!, /"admin", which the configuration does not allow/)
})

test('a login can be finished once, and not by a second answer', async () => {
  await using site = await world()
  const signal = AbortSignal.timeout(10_000)
  const login = await site.auth.login('http://127.0.0.1:3017/callback', signal)
  const back = await followingBrowser().visit(login.url, signal)
  const forged = new URL(back)
  forged.searchParams.set('state', 'x')
  await assert.rejects(login.finish(forged, signal), /state/)
  await assert.rejects(login.finish(back, signal), /this login is over/)
  assert.equal(site.auth.current(), undefined)
})
