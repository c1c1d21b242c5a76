import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LineClient, modernEnvelope } from '../learning-notes/line-client.ts'

const main = new URL('main.ts', import.meta.url)
const lisbon = { name: 'get_weather', arguments: { location: 'Lisbon' } }
const weather = { location: 'Lisbon', temperature_c: 11.2, sky: 'rain', demonstration: true }

test('a client of 2025-11-25 initializes and gets made-up weather', { timeout: 20_000 }, async () => {
  await using client = new LineClient(main)
  const clientInfo = { name: 'line-client', version: '1.0.0' }
  const hello = await client.result('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  assert.equal(hello['protocolVersion'], '2025-11-25')
  assert.match(String(hello['instructions']), /demonstration/)
  client.notify('notifications/initialized')
  assert.deepEqual((await client.result('tools/call', lisbon))['structuredContent'], weather)
  assert.equal(await client.leave(), 0)
  assert.deepEqual([client.foreign, client.stderr], [[], ''])
})

test('a client of 2026-07-28 discovers and gets the same made-up weather', { timeout: 20_000 }, async () => {
  await using client = new LineClient(main)
  const found = await client.result('server/discover', { _meta: modernEnvelope })
  assert.ok((found['supportedVersions'] as string[]).includes('2026-07-28'))
  const called = await client.result('tools/call', { _meta: modernEnvelope, ...lisbon })
  assert.partialDeepStrictEqual(called, { resultType: 'complete', structuredContent: weather })
  assert.equal(await client.leave(), 0)
  assert.deepEqual([client.foreign, client.stderr], [[], ''])
})

test('any argument ends with code 2, a sentence on stderr and nothing on stdout', { timeout: 20_000 }, async () => {
  for (const args of [['--port', '80'], ['Lisbon']]) {
    await using client = new LineClient(main, args)
    assert.equal(await client.ended(), 2)
    assert.match(client.stderr, /it takes no arguments/)
    assert.deepEqual(client.foreign, [])
  }
})
