import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { startProvider } from '../../../test/fixtures/oauth/provider.ts'
import { Secret } from '../../words/secret.ts'
import { safeFetch } from '../safe-fetch/safe-fetch.ts'
import { TokenIdentities } from '../tokens.ts'
import { ResourceServer } from './resource-server.ts'
import type { IssuerRules } from './rules.ts'

const resource = 'https://tools.example.com/mcp'
const local = new TokenIdentities({ id: 'local', tenant: 'local', kind: 'user', groups: [] }, [])
const fetch = () => safeFetch({ reach: { loopback: true, hosts: [] }, timeoutMs: 5000 })

/** An issuer with keys that can be changed, and a door that takes its tokens. */
async function world(rules: Partial<IssuerRules> = {}) {
  let keys: object[] = []
  let asked = 0
  let down = false
  const server = createServer((request, response) => {
    if (down) {
      response.writeHead(503).end()
      return
    }
    if (request.url === '/jwks') asked++
    const body = request.url === '/jwks' ? { keys } : { issuer, jwks_uri: `${issuer}/jwks` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = { now: Date.now() }
  const make = async (kid: string, alg = 'ES256'): Promise<CryptoKey> => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    keys = [...keys, { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }]
    return privateKey
  }
  const key = await make('one')
  const all: IssuerRules = {
    issuer,
    resource,
    algorithms: ['ES256'],
    types: ['at+jwt'],
    clockSkewMs: 30_000,
    tenant: 'team',
    ...rules,
  }
  const door = new ResourceServer(local, { issuers: [all], fetch, now: () => clock.now })
  const sign = (claims: object = {}, header: object = {}, by: CryptoKey | Uint8Array = key) =>
    new SignJWT({ scope: 'notes write', ...claims } as never)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'one', ...header })
      .setIssuer((claims as { iss?: string }).iss ?? issuer)
      .setAudience((claims as { aud?: string }).aud ?? resource)
      .setSubject((claims as { sub?: string }).sub ?? 'ann')
      .setExpirationTime(Math.floor(clock.now / 1000) + ((claims as { in?: number }).in ?? 600))
      .sign(by)
  const who = async (token: string): Promise<string> => {
    await door.admit(new Secret(token))
    const found = door.verify({ kind: 'bearer', token: new Secret(token) }, clock.now)
    return 'code' in found ? found.code : found.id
  }
  return {
    issuer,
    clock,
    make,
    sign,
    who,
    door,
    asked: () => asked,
    forget: () => (keys = []),
    fall: (now: boolean) => (down = now),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  }
}

test('a token of the issuer, for us, is a principal with its scopes, under the name of its issuer', async () => {
  await using site = await world({ groupsClaim: 'groups' })
  const token = await site.sign({ groups: ['staff', 7] })
  assert.equal(await site.who(token), `${new URL(site.issuer).host}/ann`)
  const found = site.door.verify({ kind: 'bearer', token: new Secret(token) }, site.clock.now)
  assert.ok(!('code' in found))
  const { tenant, groups, scopes, proof, kind } = found
  assert.deepEqual([tenant, groups, scopes, proof, kind], ['team', ['staff'], ['notes', 'write'], 'token', 'user'])
})

test('every other token is nobody’s', async () => {
  await using site = await world()
  const stranger = (await generateKeyPair('ES256')).privateKey
  const honest = await site.sign()
  const [head, body, signature] = honest.split('.')
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url')
  const tokens: Record<string, string> = {
    'for another resource': await site.sign({ aud: 'https://other.example/mcp' }),
    'for our origin': await site.sign({ aud: new URL(resource).origin }),
    'of another issuer, by the same key': await site.sign({ iss: 'https://evil.example' }),
    'with the issuer plus a slash': await site.sign({ iss: `${site.issuer}/` }),
    expired: await site.sign({ in: -31 }),
    'an ID token': await site.sign({}, { typ: 'JWT' }),
    'without a type': await site.sign({}, { typ: undefined }),
    'by a stranger’s key under a known name': await site.sign({}, {}, stranger),
    'by HMAC with the public key': await site.sign(
      {},
      { alg: 'HS256' },
      Buffer.from(await (await globalThis.fetch(`${site.issuer}/jwks`)).text()),
    ),
    'alg none': `${none}.${body}.`,
    'alg none with a signature': `${none}.${body}.${signature}`,
    'a changed body': `${head}.${Buffer.from(Buffer.from(body!, 'base64url').toString().replace('ann', 'bob')).toString('base64url')}.${signature}`,
    'an empty subject': await site.sign({ sub: '' }),
    'a critical header that nobody knows': await site.sign({}, { crit: ['x'], x: 1 }).catch(() => 'a.b.c'),
    opaque: 'abcdefghijklmnopqrstuvwxyz',
    'dots only': '..',
    'very long': 'a'.repeat(20_000),
  }
  for (const [what, token] of Object.entries(tokens)) assert.equal(await site.who(token), 'NO_IDENTITY', what)
  assert.notEqual(await site.who(honest), 'NO_IDENTITY')
})

test('a clock that is a little off is borne, and a token that runs out is told apart from one that never was', async () => {
  await using site = await world()
  assert.notEqual(await site.who(await site.sign({ in: -20 })), 'NO_IDENTITY')
  const token = await site.sign({ in: 60 })
  assert.notEqual(await site.who(token), 'NO_IDENTITY')
  site.clock.now += 100_000
  assert.match(await site.who(token), /NO_IDENTITY|IDENTITY_EXPIRED/)
})

test('rotated keys are found, an unknown key does not make us ask again and again, and removed keys end', async () => {
  await using site = await world()
  assert.notEqual(await site.who(await site.sign()), 'NO_IDENTITY')
  site.clock.now += 31_000
  const second = await site.make('two')
  assert.notEqual(await site.who(await site.sign({ sub: 'x' }, { kid: 'two' }, second)), 'NO_IDENTITY')
  const before = site.asked()
  for (let n = 0; n < 20; n++)
    assert.equal(await site.who(await site.sign({ sub: `n${n}` }, { kid: `made-up-${n}` }, second)), 'NO_IDENTITY')
  assert.equal(site.asked(), before)
  site.forget()
  site.clock.now += 11 * 60_000
  assert.equal(await site.who(await site.sign({ sub: 'late' })), 'NO_IDENTITY')
})

test('an issuer that cannot be reached admits nobody new, and its known keys stay good for a while', async () => {
  await using site = await world()
  site.fall(true)
  assert.equal(await site.who(await site.sign()), 'NO_IDENTITY')
  site.fall(false)
  site.clock.now += 31_000
  assert.notEqual(await site.who(await site.sign({ sub: 'a' })), 'NO_IDENTITY')
  site.fall(true)
  site.clock.now += 11 * 60_000
  assert.notEqual(await site.who(await site.sign({ sub: 'b' })), 'NO_IDENTITY')
  site.clock.now += 61 * 60_000
  assert.equal(await site.who(await site.sign({ sub: 'c' })), 'NO_IDENTITY')
})

test('a tenant that the token has to name, and does not, is no tenant', async () => {
  await using site = await world({ tenantClaim: 'org' })
  assert.equal(await site.who(await site.sign()), 'NO_IDENTITY')
  assert.equal(await site.who(await site.sign({ org: 7 })), 'NO_IDENTITY')
  assert.notEqual(await site.who(await site.sign({ org: 'acme' })), 'NO_IDENTITY')
})

test('an opaque token of a real authorization server is asked about, and is good for its audience only', async () => {
  await using provider = await startProvider({ opaque: true })
  const get = async (target: string): Promise<string> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', resource: target, scope: 'notes' })
    const authorization = `Basic ${Buffer.from('robot:robot-secret').toString('base64')}`
    const response = await globalThis.fetch(`${provider.issuer}/token`, {
      method: 'POST',
      body,
      headers: { authorization },
    })
    return ((await response.json()) as { access_token: string }).access_token
  }
  const rules: IssuerRules = {
    issuer: provider.issuer,
    resource,
    algorithms: ['ES256'],
    types: ['at+jwt'],
    clockSkewMs: 0,
    tenant: 'team',
    introspection: { clientId: 'door', clientSecret: new Secret('door-secret') },
  }
  const door = new ResourceServer(local, { issuers: [rules], fetch })
  const who = async (token: string): Promise<string> => {
    await door.admit(new Secret(token))
    const found = door.verify({ kind: 'bearer', token: new Secret(token) }, Date.now())
    return 'code' in found ? found.code : `${found.id} ${found.scopes?.join()}`
  }
  const token = await get(resource)
  assert.equal(await who(token), `${new URL(provider.issuer).host}/robot notes`)
  assert.equal(await who(await get('https://other.example/mcp')), 'NO_IDENTITY')
  assert.equal(await who(`${token.slice(0, -1)}x`), 'NO_IDENTITY')
})
