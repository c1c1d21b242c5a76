import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { createCountersign, memoryPair } from 'countersign'
import { createWeatherServer } from '../../servers/weather/server.ts'

const root = join(import.meta.dirname, '..', '..')

test('the example of the library prints both shapes, runs both calls, and says which methods were sent', () => {
  const { stdout, status } = spawnSync('npm', ['run', '-s', 'example:library'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.equal(status, 0)
  const lines = stdout.trim().split('\n')
  const after = (label: string): unknown =>
    JSON.parse(lines.find((line) => line.startsWith(`${label}: `))!.slice(label.length + 2))
  for (const method of ['initialize', 'notifications/initialized', 'tools/list', 'tools/call'])
    assert.ok(lines.includes(`sent: ${method}`), method)
  assert.match(stdout, /^pending: weather\/get_weather · offered: 0$/m)
  assert.match(stdout, /^instructions: .*made-up/m)
  const anthropic = after('anthropic') as Record<string, unknown>
  assert.deepEqual(Object.keys(anthropic).toSorted(), ['description', 'input_schema', 'name'])
  const openai = after('openai') as Record<string, unknown>
  assert.deepEqual(Object.keys(openai).toSorted(), ['description', 'name', 'parameters', 'strict', 'type'])
  const result = after('tool_result') as Record<string, unknown>
  assert.deepEqual([result['type'], result['tool_use_id'], 'is_error' in result], ['tool_result', 'toolu_1', false])
  const output = after('function_call_output') as Record<string, unknown>
  assert.deepEqual([output['type'], output['call_id']], ['function_call_output', 'call_1'])
  assert.match(String(output['output']), /"location":"Lisbon"/)
  assert.match(stdout, /^evidence: valid$/m)
})

test('in a library too nothing runs without approval of the definition, a policy and consent', async (t) => {
  const open = async () => {
    const [ours, theirs] = memoryPair()
    await createWeatherServer().connect(theirs)
    return ours
  }
  const permitted = 'permit (principal, action, resource);'
  const governed = await createCountersign({ servers: { weather: { open } }, policy: permitted })
  t.after(() => governed.close())
  const unapproved = await governed.call('weather__get_weather', '{"location":"Seoul"}')
  assert.ok(unapproved.kind === 'refused' && unapproved.code === 'TOOL_NOT_APPROVED')
  await governed.approve('weather/get_weather', 'the test')
  const asked = await governed.call('weather__get_weather', '{"location":"Seoul"}')
  // Nothing is declared of the tool, so a person is asked; here nobody can be.
  assert.ok(asked.kind === 'refused' && asked.code === 'APPROVAL_WAITING', JSON.stringify(asked))
  await governed.answer(asked.approval!, true, 'somebody else')
  const ran = await governed.call('weather__get_weather', '{ "location": "Seoul" }')
  assert.ok(ran.kind === 'answered' && ran.state === 'succeeded')
  const denied = await createCountersign({ servers: { weather: { open } }, policy: '' })
  t.after(() => denied.close())
  await denied.approve('weather/get_weather', 'the test')
  const invisible = await denied.call('weather__get_weather', '{"location":"Seoul"}')
  assert.ok(invisible.kind === 'refused' && invisible.code === 'TOOL_UNKNOWN')
})

test('a library finds its tools by what is to be done, and shows a model three of them in place of all', async (t) => {
  const open = async () => {
    const [ours, theirs] = memoryPair()
    await createWeatherServer().connect(theirs)
    return ours
  }
  const governed = await createCountersign({
    servers: { weather: { open } },
    policy: 'permit (principal, action, resource);',
  })
  t.after(() => governed.close())
  assert.deepEqual((await governed.search({ request: 'weather in Lisbon' })).matches, [])
  await governed.approve('weather/get_weather', 'the test')
  const found = await governed.search({ request: 'Do I need an umbrella in Lisbon today?' })
  assert.deepEqual(
    found.matches.map(({ key }) => key),
    ['weather/get_weather'],
  )
  assert.match((await governed.search({ request: 'Thank you, good night!' })).why ?? '', /talk|no word/)
  const offers = await governed.toolbox('search').offers(AbortSignal.timeout(5_000))
  assert.equal(offers.length, 3)
})
