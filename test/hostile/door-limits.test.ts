import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fixture, makeSite, openGateway } from '../fixtures/site.ts'
import { tokenOf } from './attack.ts'
import { door, LEGACY, rpc } from './client.ts'

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
