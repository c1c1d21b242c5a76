import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProvider } from '../fixtures/oauth/provider.ts'
import { approveOffered, fixture, makeSite, openGateway } from '../fixtures/site.ts'

const policy = `permit (principal, action, resource) when { principal.scopes.contains("notes") };
forbid (principal, action == Action::"call", resource) when { resource.name == "add" && !principal.scopes.contains("sums") };`

test('the door says whose tokens it takes, which scopes are missing, and the policies see them', async (t) => {
  await using provider = await startProvider()
  const resource = 'http://127.0.0.1:7000/mcp'
  const issuers = [{ issuer: provider.issuer, tenant: 'team' }]
  const tools = { echo: ['notes'], 'write_*': ['notes', 'write'] }
  const site = makeSite(
    t,
    () =>
      JSON.stringify({
        endpoint: { auth: { resource, issuers, required: ['notes'], tools } },
        servers: { inner: { command: 'node', args: [fixture('honest')], naming: 'bare' } },
        consent: { rules: [{ name: 'all', decision: 'allow' }] },
      }),
    policy,
  )
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)

  const metadata = 'http://127.0.0.1:7000/.well-known/oauth-protected-resource/mcp'
  const published = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', gateway.url))
  assert.deepEqual(await published.json(), {
    resource,
    authorization_servers: [provider.issuer],
    scopes_supported: ['notes', 'write'],
    bearer_methods_supported: ['header'],
    resource_name: 'Countersign',
  })

  const token = async (scope: string, target = resource): Promise<string> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', resource: target, scope })
    const authorization = `Basic ${Buffer.from('robot:robot-secret').toString('base64')}`
    const got = await fetch(`${provider.issuer}/token`, { method: 'POST', body, headers: { authorization } })
    return ((await got.json()) as { access_token: string }).access_token
  }
  const call = (name: string, args: object, bearer?: string) =>
    fetch(gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: args,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
  const challenge = (response: Response): string => response.headers.get('www-authenticate') ?? ''

  const nobody = await call('echo', { text: 'x' })
  assert.equal(nobody.status, 401)
  assert.equal(challenge(nobody), `Bearer realm="countersign", resource_metadata="${metadata}", scope="notes"`)
  for (const wrong of ['made-up-token-of-some-length', await token('notes', 'https://other.example/mcp')])
    assert.equal((await call('echo', { text: 'x' }, wrong)).status, 401)

  const unscoped = await call('echo', { text: 'x' }, await token('write'))
  assert.equal(unscoped.status, 403)
  const needs = `Bearer realm="countersign", error="insufficient_scope", resource_metadata="${metadata}"`
  assert.equal(challenge(unscoped), `${needs}, scope="notes"`)

  const notes = await token('notes')
  const echoed = await call('echo', { text: 'hello' }, notes)
  assert.equal(echoed.status, 200)
  assert.match(await echoed.text(), /hello/)
  const more = await call('write_note', { name: 'n', text: 'x' }, notes)
  assert.equal(more.status, 403)
  assert.equal(challenge(more), `${needs}, scope="notes write"`)
  assert.equal((await call('write_note', { name: 'n', text: 'x' }, await token('notes write'))).status, 200)

  // What a scope means beyond the door is said by the policies.
  assert.match(await (await call('add', { a: 1, b: 2 }, notes)).text(), /TOOL_UNKNOWN|POLICY_DENIED/)

  // The token is in no file of the home, and reached no server behind the gateway.
  assert.equal(JSON.stringify(await gateway.control.evidence({ limit: 1000 } as never)).includes(notes), false)
})
