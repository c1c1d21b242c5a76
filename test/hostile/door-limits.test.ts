import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fixture, makeSite, openGateway } from '../fixtures/site.ts'
import { tokenOf } from './attack.ts'
import { callTool, door, LEGACY, modern, rpc } from './client.ts'

const other = 'a-token-that-is-long-enough-0'

test('one principal that opens session after session leaves room for the others', async (t) => {
  const site = makeSite(t, ({ folder }) => {
    writeFileSync(join(folder, 'other'), other, { mode: 0o600 })
    return `
limits: { sessions: 4 }
principals: [{ id: night-run, tenant: acme, tokenFile: ./other }]
servers: { a: { command: node, args: [${fixture('honest')}] } }
`
  })
  const gateway = await openGateway(t, site)
  const hello = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'greedy', version: '1' } }
  const open = (token: string) => door(gateway, token, { body: rpc('initialize', hello) })
  for (let n = 0; n < 12; n++) assert.equal((await open(tokenOf(site))).status, 200)
  assert.equal((await open(other)).status, 200)
})

test('a service token that has expired opens no session, lists nothing and calls nothing', async (t) => {
  const site = makeSite(t, ({ folder }) => {
    for (const name of ['new', 'old']) writeFileSync(join(folder, name), `${other}${name}`, { mode: 0o600 })
    return `
principals:
  - { id: present, tenant: acme, tokenFile: ./new, expires: 2999-01-01T00:00:00Z }
  - { id: past, tenant: acme, tokenFile: ./old, expires: 2026-01-01T00:00:00Z }
servers: { a: { command: node, args: [${fixture('honest')}] } }
`
  })
  const gateway = await openGateway(t, site)
  assert.equal((await door(gateway, `${other}new`, modern('tools/list'))).status, 200)
  const hello = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'late', version: '1' } }
  for (const got of [
    await door(gateway, `${other}old`, modern('tools/list')),
    await door(gateway, `${other}old`, { body: rpc('initialize', hello) }),
    await callTool(gateway, `${other}old`, 'a__echo', { text: 'x' }),
  ]) {
    assert.equal(got.status, 401)
    assert.match(
      String(got.headers['www-authenticate']),
      /error="invalid_token", error_description="The credential has expired\."/,
    )
  }
})
