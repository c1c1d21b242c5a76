import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { effects, openAsking, type Opened } from '../fixtures/asking-site.ts'

const script = join(tmpdir(), `countersign-says-${process.pid}.json`)
writeFileSync(script, JSON.stringify([{ say: 'the rent is due' }]))

/** A client that offers nothing, so that nothing could come of asking it. */
async function think(t: { after: (close: () => Promise<void>) => void }, { gateway, site }: Opened, tool = 'think') {
  const token = readFileSync(join(site.home, 'token'), 'utf8').trim()
  const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit }))
  t.after(() => client.close())
  const result = await client.callTool({ name: `desk__${tool}`, arguments: {} })
  return (result.content as { text: string }[])[0]!.text
}

for (const era of ['legacy', 'modern'] as const) {
  test(`${era} server: the model of this host answers where that is granted, and it counts as a call`, async (t) => {
    const budgets = [{ name: 'calls', per: 'all', window: '1h', calls: 10 }]
    const config = { sampling: { model: `scripted:${script}` }, budgets }
    const opened = await openAsking(t, era, 'http', { sampling: 'host' }, { config })
    assert.deepEqual(JSON.parse(await think(t, opened)), {
      role: 'assistant',
      content: { type: 'text', text: 'the rent is due' },
      model: `scripted:${script}`,
      stopReason: 'endTurn',
    })
    const records = await opened.gateway.control.evidence({ limit: 200 })
    const { facts } = records.find(({ kind }) => kind === 'op.asked') as { facts: Record<string, unknown> }
    assert.deepEqual([facts['by'], facts['mode'], facts['model']], ['host', 'host', `scripted:${script}`])
    const [account] = await opened.gateway.control.budgets()
    assert.equal(account?.used.calls, 2)
  })

  test(`${era} server: a model is not asked when the budget of the caller is spent`, async (t) => {
    const budgets = [{ name: 'one call', per: 'all', window: '1h', calls: 1 }]
    const config = { sampling: { model: `scripted:${script}` }, budgets }
    const opened = await openAsking(t, era, 'http', { sampling: 'host' }, { config })
    await assert.rejects(think(t, opened), { code: -1 })
    assert.deepEqual(effects(opened.site), [])
  })
}
