import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doors, modelAt, runAgainst } from '../../../test/fixtures/providers/doors.ts'
import { startProvider } from '../../../test/fixtures/providers/server.ts'
import { testToolbox } from '../../../test/fixtures/providers/toolbox.ts'
import type { JsonObject } from '../../words/json.ts'
import { exposed } from '../exposure.ts'
import { runTask } from '../loop.ts'

const finder = {
  find: () => Promise.resolve({ text: 'weather__get_weather(…)', tools: ['weather__get_weather', 'not__offered'] }),
}
const replies = [
  { calls: [{ id: 'toolu_1', name: 'countersign__search_tools', arguments: { query: 'weather' } }] },
  { calls: [{ id: 'toolu_2', name: 'weather__get_weather', arguments: { location: 'Seoul' } }] },
  { text: 'It is 15 °C.' },
]

for (const streaming of [true, false]) {
  test(`Anthropic is told of every tool, loads what our search finds, and its call is one of the real tool (${streaming ? 'streamed' : 'whole'})`, async () => {
    await using provider = await startProvider(doors.anthropic.wire, replies)
    const toolbox = testToolbox()
    const report = await runTask({
      task: 'Weather in Seoul?',
      model: modelAt(doors.anthropic, provider, streaming),
      toolbox: exposed(toolbox, finder, 'deferred'),
      signal: AbortSignal.timeout(20_000),
    })
    assert.equal(report.stop, 'done', report.why)
    const bodies = provider.requests.map(({ body }) => body)
    const told = (bodies[0]!['tools'] as readonly JsonObject[]).map((tool) => [
      tool['name'],
      tool['defer_loading'] ?? false,
    ])
    assert.deepEqual(told, [
      ['countersign__search_tools', false],
      ['notes__search', true],
      ['weather__get_weather', true],
    ])
    const results = JSON.stringify(bodies[1]!['messages'])
    assert.match(results, /"type":"tool_reference","tool_name":"weather__get_weather"/)
    assert.ok(!results.includes('not__offered'))
    // The same bytes each turn, so that what the provider keeps of them is of use.
    assert.deepEqual(bodies[1]!['tools'], bodies[0]!['tools'])
    assert.deepEqual(
      toolbox.calls.map(({ exported, argumentsText }) => [exported, argumentsText]),
      [['weather__get_weather', '{"location":"Seoul"}']],
    )
  })
}

test('a provider without it is shown deferred tools like any other, and reads the declarations', async () => {
  const toolbox = testToolbox()
  const { provider } = await runAgainst(doors.chat, replies, false, {
    toolbox: { ...exposed(toolbox, finder, 'deferred'), calls: toolbox.calls },
  })
  const text = JSON.stringify(provider.requests.map(({ body }) => body))
  assert.ok(!text.includes('defer_loading') && !text.includes('tool_reference'))
  assert.match(text, /weather__get_weather\(…\)/)
})
