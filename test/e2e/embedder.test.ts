import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { approveOffered, fixture, makeSite, openGateway } from '../fixtures/site.ts'

test('a gateway with an embedder sends it approved texts and requests, and nothing that nobody approved', async (t) => {
  const sent: string[] = []
  const provider = createServer((request, response) => {
    void json(request).then((body) => {
      const { input } = body as { input: readonly string[] }
      sent.push(...input)
      response.end(JSON.stringify({ data: input.map((text) => ({ embedding: [text.length, 1] })) }))
    })
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  t.after(() => provider.close())
  const { port } = provider.address() as AddressInfo
  const site = makeSite(
    t,
    ({ effects }) => `
servers:
  notes: { command: node, args: [${fixture('honest')}, --effects, ${effects}] }
search: { embedder: { url: "http://127.0.0.1:${port}/v1", model: any } }
`,
  )
  const gateway = await openGateway(t, site)
  const signal = AbortSignal.timeout(20_000)
  const before = await gateway.control.searchTools({ query: 'add two numbers' }, signal)
  assert.deepEqual(before.matches, [])
  assert.equal(sent.length, 0)
  await approveOffered(gateway)
  const found = await gateway.control.searchTools({ query: 'add two numbers' }, signal)
  assert.equal(found.matches[0]?.key, 'notes/add')
  const end = Date.now() + 20_000
  while (!sent.some((text) => text.startsWith('add: ')) && Date.now() < end) await pause(10)
  assert.ok(sent.includes('add two numbers'))
  assert.ok(
    sent.some((text) => text.startsWith('add: ')),
    sent.join(' | '),
  )
})
