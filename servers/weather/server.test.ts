import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Client, InMemoryTransport } from '@modelcontextprotocol/client'

import { createWeatherServer } from './server.ts'

async function connected() {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await Promise.all([client.connect(here), createWeatherServer().connect(there)])
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

test('the instructions, the description and the result all say that the values are made up', async () => {
  await using client = await connected()
  assert.match(client.getInstructions() ?? '', /^[^.]*made-up values[^.]*\.$/)
  const [tool] = (await client.listTools()).tools
  assert.match(tool?.description ?? '', /Demonstration only.*made-up/)
  assert.equal(tool?.annotations?.readOnlyHint, true)
  const result = await client.callTool({ name: 'get_weather', arguments: { location: 'Lisbon' } })
  const weather = { location: 'Lisbon', temperature_c: 11.2, sky: 'rain', demonstration: true }
  assert.deepEqual(result.structuredContent, weather)
  assert.deepEqual(result.content, [{ type: 'text', text: JSON.stringify(weather) }])
})

test('the output schema names the unit and allows nothing but a demonstration', async () => {
  await using client = await connected()
  const [tool] = (await client.listTools()).tools
  assert.partialDeepStrictEqual(tool?.outputSchema, {
    required: ['location', 'temperature_c', 'sky', 'demonstration'],
    additionalProperties: false,
    properties: { demonstration: { const: true } },
  })
  assert.match(JSON.stringify(tool?.outputSchema), /degrees Celsius/)
})

test('arguments that do not fit are an error that names the argument', async () => {
  await using client = await connected()
  const wrong: ReadonlyArray<readonly [args: Record<string, unknown>, because: RegExp]> = [
    [{}, /location/],
    [{ location: 5 }, /location/],
    [{ location: ' ' }, /location: names no place/],
    [{ location: 'x'.repeat(101) }, /location: may have at most 100 characters/],
    [{ location: 'a\nb' }, /location: must not hold control characters/],
    [{ location: 'a', unit: 'K' }, /unit/],
  ]
  for (const [args, because] of wrong) {
    const result = await client.callTool({ name: 'get_weather', arguments: args })
    assert.equal(result.isError, true, JSON.stringify(args))
    assert.match(JSON.stringify(result.content), because)
  }
  const fits = await client.callTool({ name: 'get_weather', arguments: { location: '🏝'.repeat(100) } })
  assert.notEqual(fits.isError, true)
})
