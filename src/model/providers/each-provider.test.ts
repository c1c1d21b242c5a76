import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doors, runAgainst, testKey } from '../../../test/fixtures/providers/doors.ts'
import type { FakeReply } from '../../../test/fixtures/providers/server.ts'
import { redPixel, testToolbox, textResult, weatherOffers } from '../../../test/fixtures/providers/toolbox.ts'
import { type Json, type JsonObject, isJsonObject } from '../../words/json.ts'

const weather = 'weather__get_weather'
const notes = {
  description: 'Searches notes.\n\nGive at least one of these sets of arguments: text; or tag.',
  schema: { properties: { tag: { type: 'string' }, text: { type: 'string' } }, type: 'object' },
}
const forecast = {
  description: 'Made-up weather for a place.',
  schema: {
    properties: { days: { type: 'integer' }, location: { type: 'string' } },
    required: ['location'],
    type: 'object',
  },
}

/** The tools block of each wire, byte for byte. A change here drops every cached prompt of every user. */
const goldenTools = {
  anthropic: [
    { name: 'notes__search', description: notes.description, input_schema: notes.schema },
    { name: weather, description: forecast.description, input_schema: forecast.schema },
  ],
  responses: [
    {
      type: 'function',
      name: 'notes__search',
      description: notes.description,
      parameters: notes.schema,
      strict: false,
    },
    { type: 'function', name: weather, description: forecast.description, parameters: forecast.schema, strict: false },
  ],
  chat: [
    {
      type: 'function',
      function: { name: 'notes__search', description: notes.description, parameters: notes.schema, strict: false },
    },
    {
      type: 'function',
      function: { name: weather, description: forecast.description, parameters: forecast.schema, strict: false },
    },
  ],
  google: [
    {
      functionDeclarations: [
        { name: 'notes__search', description: notes.description, parametersJsonSchema: notes.schema },
        { name: weather, description: forecast.description, parametersJsonSchema: forecast.schema },
      ],
    },
  ],
  compatible: [
    { type: 'function', function: { name: 'notes__search', description: notes.description, parameters: notes.schema } },
    { type: 'function', function: { name: weather, description: forecast.description, parameters: forecast.schema } },
  ],
} as const

const thought = { text: 'Seoul it is.', signature: 'c2lnbmF0dXJl' }
const twoCalls: FakeReply = {
  text: 'Let me look.',
  thought,
  calls: [
    { id: 'call_a', name: weather, arguments: { location: 'Seoul' }, signature: 'c2lnbmVk' },
    { id: 'call_b', name: weather, arguments: { location: 'Busan' } },
  ],
}
const answer: FakeReply = { text: 'It is 15 °C in both.' }

for (const [name, door] of Object.entries(doors)) {
  for (const streaming of [true, false]) {
    const mode = `${name}, ${streaming ? 'streaming' : 'in one piece'}`

    test(`${mode}: two calls go through the toolbox and their results back to the model`, async () => {
      const { report, toolbox, provider, events } = await runAgainst(door, [twoCalls, answer], streaming)
      assert.equal(report.stop, 'done')
      assert.equal(report.text, 'It is 15 °C in both.')
      assert.deepEqual(
        toolbox.calls.map(({ callId, exported, argumentsText }) => [callId, exported, argumentsText]),
        [
          ['call_a', weather, '{"location":"Seoul"}'],
          ['call_b', weather, '{"location":"Busan"}'],
        ],
      )
      assert.deepEqual(report.usage, { inputTokens: 200, outputTokens: 20, estimated: false, method: 'usage' })
      const shown = events.filter((event) => event.kind === 'text').map((event) => event.text)
      assert.equal(shown.join(''), 'Let me look.It is 15 °C in both.')
      if (streaming) assert.ok(shown.length > 2)

      const [first, second] = provider.requests
      assert.equal(provider.requests.length, 2)
      assert.deepEqual(first!.body['tools'], goldenTools[name as keyof typeof goldenTools])
      assert.equal(JSON.stringify(second!.body['tools']), JSON.stringify(first!.body['tools']))
      assert.ok(JSON.stringify(first!.headers).includes(testKey))
      assert.ok(!first!.text.includes(testKey))
      for (const id of ['call_a', 'call_b']) assert.ok(second!.text.includes(id))
      assert.equal(second!.text.split('Seoul: 15 °C').length, 3)
    })

    test(`${mode}: T15: the tools block is the same bytes whatever the order of the offers and of their keys`, async () => {
      const reversed = weatherOffers
        .toReversed()
        .map((offer) => ({ ...offer, inputSchema: backwards(offer.inputSchema) }))
      const toolsOf = async (offers: typeof weatherOffers): Promise<string> => {
        const ran = await runAgainst(door, [answer], streaming, { toolbox: testToolbox(offers) })
        return JSON.stringify(ran.provider.requests[0]!.body['tools'])
      }
      assert.equal(await toolsOf(reversed), await toolsOf(weatherOffers))
    })

    test(`${mode}: T10: a call without arguments reaches the toolbox as {} and goes back as {}`, async () => {
      const empty: FakeReply = { calls: [{ id: 'call_a', name: 'notes__search', arguments: '' }] }
      const { toolbox, provider } = await runAgainst(door, [empty, answer], streaming)
      assert.deepEqual(
        toolbox.calls.map((call) => call.argumentsText),
        ['{}'],
      )
      assert.doesNotMatch(provider.requests[1]!.text, /"(?:arguments|input|args)":""/)
      assert.match(provider.requests[1]!.text, /"(?:arguments":"\{\}"|input":\{\}|args":\{\})/)
    })

    test(`${mode}: T12: a failed call with a picture is an error on the wire, and the picture is there where it may be`, async () => {
      const failed = {
        kind: 'result',
        isError: true,
        value: {
          content: [
            { type: 'text', text: 'sensor broken' },
            { type: 'image', mimeType: 'image/png', data: redPixel },
          ],
        },
      } as const
      const call: FakeReply = { calls: [{ id: 'call_a', name: weather, arguments: { location: 'Seoul' } }] }
      const toolbox = testToolbox(undefined, () => failed)
      const { provider } = await runAgainst(door, [call, answer], streaming, { toolbox })
      const { text, headers } = provider.requests[1]!
      const flagged = /"is_error":true/.test(text) || /"error":"sensor broken"/.test(text)
      assert.ok(flagged || text.includes('TOOL ERROR: sensor broken'), text)
      const pictured = name === 'anthropic' || name === 'responses' || name === 'google'
      assert.equal(text.includes(redPixel), pictured)
      assert.ok(pictured || text.includes('[image not shown: image/png, 70 bytes]'))
      assert.doesNotMatch(text, /executed successfully/)
      assert.doesNotMatch(JSON.stringify(headers), /x-countersign/)
    })

    test(`${mode}: T14: of text and structure one goes over the wire; of an error both do`, async () => {
      const value = { content: [{ type: 'text', text: 'Two places.' }], structuredContent: { places: 2 } }
      const call: FakeReply = { calls: [{ id: 'call_a', name: weather, arguments: { location: 'Seoul' } }] }
      const sent = async (isError: boolean): Promise<string> => {
        const toolbox = testToolbox(undefined, () => ({ kind: 'result', isError, value }))
        return (await runAgainst(door, [call, answer], streaming, { toolbox })).provider.requests[1]!.text
      }
      const fine = await sent(false)
      assert.ok(fine.includes('places') && !fine.includes('Two places.'))
      const failed = await sent(true)
      assert.ok(failed.includes('\\"places\\":2') && failed.includes('Two places.'))
    })

    test(`${mode}: T21: a call in a turn that ran out of tokens is not made`, async () => {
      const finish = {
        anthropic: 'max_tokens',
        responses: 'max_output_tokens',
        chat: 'length',
        google: 'MAX_TOKENS',
        compatible: 'length',
      }
      const cut = { ...twoCalls, finish: finish[name as keyof typeof finish] }
      const { toolbox, report } = await runAgainst(door, [cut, answer], streaming)
      assert.equal(toolbox.calls.length, 0)
      assert.equal(report.stop, 'cut-short')
      assert.deepEqual(
        report.calls.map(({ verdict }) => verdict),
        ['not-run', 'not-run'],
      )
    })

    test(`${mode}: a provider that is overloaded is asked again, and told nothing new`, async () => {
      const busy: FakeReply = { status: 529, message: `too busy for ${testKey}`, headers: { 'retry-after-ms': '1' } }
      const { report, provider, events } = await runAgainst(door, [busy, { ...busy, status: 429 }, answer], streaming)
      assert.equal(report.text, answer.text)
      assert.equal(provider.requests.length, 3)
      assert.equal(provider.requests[2]!.text, provider.requests[0]!.text)
      const retries = events.filter((event) => event.kind === 'retry')
      assert.deepEqual(
        retries.map(({ waitMs }) => waitMs),
        [1, 1],
      )
      assert.match(retries[0]!.why, /^HTTP 529: too busy for \[secret\]/)
    })

    test(`${mode}: a refused key ends the task at once, and the key is in no word of it`, async () => {
      const { report, provider } = await runAgainst(door, [{ status: 401, message: `bad key ${testKey}` }], streaming)
      assert.equal(report.stop, 'model-fault')
      assert.match(report.why!, /^HTTP 401: bad key \[secret\]/)
      assert.equal(provider.requests.length, 1)
    })
  }

  for (const breaksOff of ['reset', 'silent'] as const) {
    test(`${name}: T21: nothing of a stream that breaks off (${breaksOff}) is called`, async () => {
      const broken = { ...twoCalls, breaksOff }
      const again = await runAgainst(door, [broken, answer], true)
      assert.equal(again.toolbox.calls.length, 0)
      // The package for compatible servers takes a silent end for an answer that cannot be read, and that is not tried again.
      const final = name === 'compatible' && breaksOff === 'silent'
      assert.deepEqual([again.report.stop, again.provider.requests.length], final ? ['model-fault', 1] : ['done', 2])
      const once = await runAgainst(door, [broken], true, { retry: { attempts: 1 } })
      assert.deepEqual([once.report.stop, once.toolbox.calls.length], ['model-fault', 0])
    })
  }

  test(`${name}: an unknown outcome is told to the model in plain words`, async () => {
    const call: FakeReply = { calls: [{ id: 'call_a', name: weather, arguments: { location: 'Seoul' } }] }
    const toolbox = testToolbox(undefined, () => ({ kind: 'unknown', operation: 'op_7', why: 'deadline' }))
    const { provider, report } = await runAgainst(door, [call, answer], true, { toolbox })
    assert.match(provider.requests[1]!.text, /OUTCOME UNKNOWN \(operation op_7\)[^"]*Do not send it again/)
    assert.equal(report.calls[0]!.verdict, 'unknown')
  })
}

test('the results of one turn of Anthropic go into one user message, in their order', async () => {
  const { provider } = await runAgainst(doors.anthropic, [twoCalls, answer], true, {
    toolbox: testToolbox(undefined, (call) => textResult(call.callId, call.callId === 'call_b')),
  })
  const messages = provider.requests[1]!.body['messages'] as readonly JsonObject[]
  assert.deepEqual(messages.slice(1), [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: thought.text, signature: thought.signature },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'call_a', name: weather, input: { location: 'Seoul' } },
        { type: 'tool_use', id: 'call_b', name: weather, input: { location: 'Busan' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_a', content: 'call_a' },
        { type: 'tool_result', tool_use_id: 'call_b', content: 'call_b', is_error: true },
      ],
    },
  ])
})

function backwards<Value extends Json>(value: Value): Value {
  if (Array.isArray(value) || !isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, sub]) => [key, backwards(sub)]),
  ) as unknown as Value
}
