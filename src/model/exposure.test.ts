import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testToolbox, weatherOffers } from '../../test/fixtures/providers/toolbox.ts'
import type { Wish } from '../mcp/catalogue/search/tool-search.ts'
import { exposed } from './exposure.ts'
import { runTask } from './loop.ts'
import { scriptedModel } from './scripted.ts'

const signal = AbortSignal.timeout(10_000)
const finder = () => {
  const wishes: Wish[] = []
  return {
    wishes,
    find: (wish: Wish) => {
      wishes.push(wish)
      return Promise.resolve({ text: 'weather__get_weather({location: string})', tools: ['weather__get_weather'] })
    },
  }
}
const call = (exported: string, given: unknown) => ({
  exported,
  argumentsText: typeof given === 'string' ? given : JSON.stringify(given),
  callId: 'c1',
  conversation: 'cnv_1',
})

test('a model that is shown three tools finds one, and its call reaches the toolbox as a call of that one', async () => {
  const toolbox = testToolbox()
  const search = finder()
  const model = scriptedModel(
    {
      turns: [
        { call: { tool: 'countersign__search_tools', arguments: { query: 'weather in Seoul' } } },
        {
          when: { contains: 'weather__get_weather' },
          call: {
            tool: 'countersign__call_tool',
            arguments: { name: 'weather__get_weather', arguments: { location: 'Seoul' } },
          },
        },
        { when: { contains: '15 °C' }, say: 'It is 15 °C.' },
      ],
    },
    'scripted:test',
  )
  const offered: number[] = []
  const report = await runTask({
    task: 'What is the weather in Seoul?',
    model,
    toolbox: exposed(toolbox, search, 'search'),
    signal,
    observer: (event) => {
      if (event.kind === 'offers') offered.push(event.offered)
    },
  })
  assert.equal(report.stop, 'done')
  assert.equal(report.text, 'It is 15 °C.')
  assert.deepEqual(offered, [3])
  assert.deepEqual(search.wishes, [{ request: 'weather in Seoul', limit: undefined, server: undefined }])
  assert.deepEqual(
    toolbox.calls.map(({ exported, argumentsText }) => [exported, argumentsText]),
    [['weather__get_weather', '{"location":"Seoul"}']],
  )
})

test('auto shows everything while that is small, and three tools where it is not', async () => {
  const names = async (tokens: number) =>
    (await exposed(testToolbox(), finder(), 'auto', tokens).offers(signal)).map(({ exported }) => exported)
  assert.deepEqual(
    await names(10_000),
    weatherOffers.map(({ exported }) => exported),
  )
  assert.equal((await names(10)).length, 3)
})

test('what is wrong with a call of the three is said, and nothing reaches the toolbox', async () => {
  const toolbox = testToolbox()
  const three = exposed(toolbox, finder(), 'search')
  await three.offers(signal)
  for (const given of ['{', '[]', {}, { name: 'countersign__call_tool' }, '{"name":"a","name":"b"}']) {
    const answer = await three.call(call('countersign__call_tool', given), signal)
    assert.ok(answer.kind === 'result' && answer.isError, JSON.stringify(given))
  }
  for (const [verb, given] of [
    ['countersign__search_tools', { query: ' ' }],
    ['countersign__search_tools', { query: 'x', limit: 1.5 }],
    ['countersign__describe_tools', { names: [] }],
  ] as const) {
    const answer = await three.call(call(verb, given), signal)
    assert.ok(answer.kind === 'result' && answer.isError, verb)
  }
  const described = await three.call(call('countersign__describe_tools', { names: ['notes__search', 'no'] }), signal)
  assert.ok(described.kind === 'result' && !described.isError)
  assert.match(JSON.stringify(described.value), /anyOf.*no: there is no tool of that name/)
  assert.deepEqual(toolbox.calls, [])
})
