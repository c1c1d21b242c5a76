import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { approveOffered, fixture, makeSite, openGateway, type Site } from '../fixtures/site.ts'

function yaml(channels: string): (site: Site) => string {
  return ({ effects }) => `
servers:
  notes:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools: { write_note: { effect: once, risk: medium } }
consent:
  wait: 2s
  rules: [{ name: writes ask, decision: ask, channels: [${channels}], selfApproval: true }]
`
}

interface Opened {
  readonly gateway: RunningGateway
  readonly site: Site
  readonly connect: (
    mode: 'legacy' | { pin: '2026-07-28' },
    answer: 'accept' | 'decline' | undefined,
  ) => Promise<Client>
}

async function open(t: TestContext, text: (site: Site) => string): Promise<Opened & { asked: string[] }> {
  const site = makeSite(t, text)
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const token = readFileSync(join(site.home, 'token'), 'utf8').trim()
  const asked: string[] = []
  return {
    gateway,
    site,
    asked,
    connect: async (mode, answer) => {
      const capabilities = answer === undefined ? {} : { elicitation: { form: {} } }
      const client = new Client({ name: 'a client', version: '1' }, { capabilities, versionNegotiation: { mode } })
      if (answer !== undefined) {
        client.setRequestHandler('elicitation/create', (request) => {
          asked.push(request.params.message)
          return Promise.resolve(
            answer === 'accept' ? { action: 'accept', content: { decision: 'approve' } } : { action: 'decline' },
          )
        })
      }
      const headers = { authorization: `Bearer ${token}` }
      await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit: { headers } }))
      t.after(() => client.close())
      return client
    },
  }
}

const note = { name: 'notes__write_note', arguments: { name: 'a', text: 'pay Ana' } }

function effects(site: Site): number {
  return existsSync(site.effects) ? readFileSync(site.effects, 'utf8').split('\n').filter(Boolean).length : 0
}

for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
  const era = mode === 'legacy' ? 'a legacy client' : 'a modern client'

  test(`${era} is asked for a yes, gives it, and the call runs once with the yes on record`, async (t) => {
    const { gateway, site, asked, connect } = await open(t, yaml('elicitation'))
    const client = await connect(mode, 'accept')
    const result = await client.callTool(note)
    assert.notEqual(result.isError, true, JSON.stringify(result))
    assert.equal(effects(site), 1)
    assert.equal(asked.length, 1)
    assert.match(asked[0]!, /arguments: \{"name":"a","text":"pay Ana"\}/)
    const [approval] = await gateway.control.approvals({ limit: 10 })
    assert.deepEqual([approval?.state, approval?.channel, approval?.by], ['used', 'elicitation', 'local'])
  })

  test(`${era} says no, and the same call is not asked again`, async (t) => {
    const { site, asked, connect } = await open(t, yaml('elicitation'))
    const client = await connect(mode, 'decline')
    for (let n = 0; n < 2; n++) {
      const result = await client.callTool(note)
      assert.equal(result.isError, true)
      assert.match(JSON.stringify(result.content), /APPROVAL_DENIED/)
    }
    assert.equal(asked.length, 1)
    assert.equal(effects(site), 0)
  })

  test(`${era} whose rule names another channel is not asked, and its own yes would not count`, async (t) => {
    const { site, asked, connect } = await open(t, yaml('cli'))
    const client = await connect(mode, 'accept')
    const result = await client.callTool(note)
    assert.match(JSON.stringify(result.content), /APPROVAL_WAITING.*countersign approval approve apr_/s)
    assert.deepEqual([asked.length, effects(site)], [0, 0])
  })

  test(`${era} that cannot be asked gets the approval's name; after a yes the repeated call runs once`, async (t) => {
    const { gateway, site, connect } = await open(t, yaml('cli, elicitation'))
    const client = await connect(mode, undefined)
    const first = await client.callTool(note)
    const id = /apr_[0-9a-z]{26}/.exec(JSON.stringify(first.content))![0]
    const decided = await gateway.control.decideApproval(id, { decision: 'granted', channel: 'cli', why: '' })
    assert.ok(decided !== undefined && 'state' in decided && decided.state === 'granted')
    assert.equal(effects(site), 0, 'a yes does not run anything by itself')
    const second = await client.callTool(note)
    assert.notEqual(second.isError, true)
    const third = await client.callTool(note)
    assert.match(JSON.stringify(third.content), /APPROVAL_WAITING/)
    assert.equal(effects(site), 1)
  })
}

test('where one may not answer for oneself, the yes of a client for its own call counts for nothing', async (t) => {
  const { site, asked, connect } = await open(t, (own) =>
    yaml('elicitation')(own).replace('selfApproval: true', 'selfApproval: false'),
  )
  const client = await connect('legacy', 'accept')
  const result = await client.callTool(note)
  assert.equal(result.isError, true)
  assert.deepEqual([asked.length, effects(site)], [1, 0])
})
