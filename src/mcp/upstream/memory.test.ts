import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import {
  connected,
  negotiatedBy,
  next,
  permitFor,
  sending,
  soon,
  textOf,
} from '../../../test/fixtures/servers/reach.ts'
import { discovered, listen, scripted, type Heard } from '../../../test/fixtures/servers/scripted.ts'
import { memoryPair } from './memory.ts'
import type { MemoryEnd } from './upstream.ts'

const said = (text: string): { content: { type: 'text'; text: string }[] } => ({ content: [{ type: 'text', text }] })

async function v2(): Promise<MemoryEnd> {
  const server = new McpServer({ name: 'second', version: '2.0.0' }, { instructions: 'Be brief.' })
  const inputSchema = z.object({ city: z.string() })
  server.registerTool('weather', { description: 'Tells the weather.', inputSchema }, ({ city }) =>
    said(`Sun in ${city}`),
  )
  const [ours, theirs] = memoryPair()
  await server.connect(theirs)
  return ours
}

async function v1(): Promise<MemoryEnd> {
  const server = new McpServerV1({ name: 'first', version: '1.0.0' })
  const inputSchema = { city: z.string() }
  server.registerTool('weather', { description: 'Tells the weather.', inputSchema }, ({ city }) =>
    said(`Rain in ${city}`),
  )
  const [ours, theirs] = memoryPair()
  await server.connect(theirs)
  return ours
}

for (const [open, name, weather] of [
  [v2, 'second', 'Sun in Ulm'],
  [v1, 'first', 'Rain in Ulm'],
] as const) {
  test(`a server of the SDK (${name} generation) in this process is connected to, listed and called`, async () => {
    await using upstream = await connected({ kind: 'memory', open })
    const { serverInfo, transport } = negotiatedBy(upstream)
    assert.equal(serverInfo['name'], name)
    assert.equal(transport, 'memory')
    assert.deepEqual(
      (await upstream.list('tools/list', soon())).map((tool) => tool['name']),
      ['weather'],
    )
    assert.equal(textOf(await upstream.send(permitFor('weather', { city: 'Ulm' }), sending())), weather)
  })
}

test('what one end sends the other gets as a copy, in order, and not before it has started', async () => {
  const [ours, theirs] = memoryPair()
  const got: unknown[] = []
  listen(theirs, (message) => void got.push(message))
  await ours.start()
  const first = { n: [1] }
  await ours.send(first)
  first.n.push(2)
  await ours.send({ n: [2] })
  await Promise.resolve()
  assert.deepEqual(got, [])
  await theirs.start()
  await ours.send({ n: [3] })
  await Promise.resolve()
  assert.deepEqual(got, [{ n: [1] }, { n: [2] }, { n: [3] }])
})

test('an end that is never started holds back no more than a thousand messages', async () => {
  const [ours] = memoryPair()
  for (let n = 0; n < 1000; n++) await ours.send({ n })
  await assert.rejects(ours.send({}), /not started/)
})

test('closing either end closes both, once, and a call that was under way has no answer', async () => {
  let server: MemoryEnd | undefined
  const answer = ({ method }: Heard): object | undefined => (method === 'server/discover' ? discovered : undefined)
  await using upstream = await connected(scripted(answer, (end) => void (server = end)))
  const call = upstream.send(permitFor('weather'), sending())
  const down = next(upstream, 'down')
  await server?.close()
  assert.deepEqual(await call, { kind: 'no-answer', why: 'closed', detail: 'the server closed the connection' })
  await down
})
