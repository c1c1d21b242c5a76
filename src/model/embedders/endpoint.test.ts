import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { Meanings } from '../../mcp/catalogue/search/embedder.ts'
import { Secret } from '../../words/secret.ts'
import { endpointEmbedder } from './endpoint.ts'

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const soon = () => AbortSignal.timeout(10_000)

/** A model of two words: how much a text is about ships, and how much about letters. */
const vectorOf = (text: string) => [/boat|ship|harbour/i.test(text) ? 1 : 0, /letter|mail|post/i.test(text) ? 1 : 0.01]

test('what is alike in meaning comes first where words say little, and each text is sent once', async () => {
  const sent: string[] = []
  const keys: unknown[] = []
  await using site = await serve((request, response) => {
    keys.push(request.headers.authorization)
    void json(request).then((body) => {
      const { input } = body as { input: readonly string[] }
      sent.push(...input)
      const data = input.map((text, index) => ({ index, embedding: vectorOf(text) })).toReversed()
      response.end(JSON.stringify({ data }))
    })
  })
  const meanings = new Meanings(endpointEmbedder({ url: site.url, model: 'two', key: new Secret('sk-test') }))
  const tools = [
    { key: 'a/list_vessels', server: 'a', name: 'list_vessels', description: 'Every ship in the harbour' },
    { key: 'b/list_parcels', server: 'b', name: 'list_parcels', description: 'Every letter in the post' },
  ]
  for (const tool of [...tools, ...tools]) meanings.learn(tool)
  await meanings.learnt()
  const hits = tools.toReversed().map(({ key }) => ({ key, score: 2 }))
  const fused = await meanings.fused('which boats are there', hits, soon())
  assert.equal(fused?.[0]?.key, 'a/list_vessels')
  assert.equal(sent.length, 3)
  assert.deepEqual(new Set(keys), new Set(['Bearer sk-test']))
  meanings.learn(tools[0]!)
  await meanings.learnt()
  assert.equal(sent.length, 3, 'a text that did not change is not embedded again')
})

test('where meaning cannot be had, in time or at all, words alone answer', async () => {
  for (const listener of [
    (() => {}) as RequestListener,
    ((_, response) => response.writeHead(500).end()) as RequestListener,
    ((_, response) => response.end('{"data":[]}')) as RequestListener,
    ((_, response) => response.end('{"data":[{"embedding":["x"]}]}')) as RequestListener,
    ((_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end()) as RequestListener,
  ]) {
    await using site = await serve(listener)
    const meanings = new Meanings(endpointEmbedder({ url: site.url, model: 'm' }))
    assert.equal(await meanings.fused('x', [{ key: 'a/b', score: 1 }], soon()), undefined)
  }
})

test('an answer without an end is cut off', async () => {
  const chunk = Buffer.alloc(1 << 20, 32)
  await using site = await serve((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) continue
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  await assert.rejects(endpointEmbedder({ url: site.url, model: 'm' }).embed(['x'], soon()), /more than \d+ bytes/)
})
