import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doors, runAgainst } from '../../../test/fixtures/providers/doors.ts'
import type { FakeReply } from '../../../test/fixtures/providers/server.ts'
import { redPixel, testToolbox } from '../../../test/fixtures/providers/toolbox.ts'
import type { JsonObject } from '../../words/json.ts'

const name = 'weather__get_weather'
const seoul = { name, arguments: { location: 'Seoul' } }
const busan = { name, arguments: { location: 'Busan' } }
const answer: FakeReply = { text: 'Done.' }
const chats = [
  ['chat', doors.chat],
  ['compatible', doors.compatible],
] as const

function messagesOf(body: JsonObject, key = 'messages'): readonly JsonObject[] {
  return body[key] as readonly JsonObject[]
}

for (const [title, door] of chats) {
  for (const streaming of [true, false]) {
    const mode = `${title}, ${streaming ? 'streaming' : 'in one piece'}`

    test(`${mode}: T11: the same id twice, and none at all, become ids of their own with one result each`, async () => {
      const reply = {
        calls: [
          { id: 'same', ...seoul },
          { id: 'same', ...busan },
          { id: '', ...busan },
        ],
      }
      const { toolbox, provider } = await runAgainst(door, [reply, answer], streaming)
      assert.equal(toolbox.calls.length, 3)
      const ids = toolbox.calls.map((call) => call.callId)
      assert.equal(new Set(ids).size, 3)
      const messages = messagesOf(provider.requests[1]!.body)
      const assistant = messages.find((message) => message['role'] === 'assistant')!
      assert.deepEqual(
        (assistant['tool_calls'] as readonly JsonObject[]).map((call) => call['id']),
        ids,
      )
      const results = messages.filter((message) => message['role'] === 'tool')
      assert.deepEqual(
        results.map((message) => message['tool_call_id']),
        ids,
      )
    })

    test(`${mode}: a turn that ends with "stop" and holds calls is a turn with calls`, async () => {
      const { toolbox } = await runAgainst(
        door,
        [{ calls: [{ id: 'a', ...seoul }], finish: 'stop' }, answer],
        streaming,
      )
      assert.equal(toolbox.calls.length, 1)
    })

    test(`${mode}: T10: malformed argument text is an error to the model and goes back as {}`, async () => {
      for (const text of ['{', '[1]', 'null', '"x"', '{}{}']) {
        const reply = { calls: [{ id: 'a', name, arguments: text }] }
        const { toolbox, provider } = await runAgainst(door, [reply, answer], streaming)
        assert.equal(toolbox.calls.length, 0, text)
        const messages = messagesOf(provider.requests[1]!.body)
        assert.match(JSON.stringify(messages.at(-1)), /NOT RUN: The arguments/)
        assert.match(JSON.stringify(messages.at(-2)), /"arguments":"\{\}"/)
      }
    })

    test(`${mode}: a server that does not count tokens is counted for`, async () => {
      const { report } = await runAgainst(door, [{ ...answer, usage: null }], streaming)
      assert.ok(report.usage.estimated && report.usage.inputTokens > 0)
    })
  }

  test(`${title}: calls whose fragments carry no index, or all the same, are told apart`, async () => {
    for (const index of ['none', 'zero'] as const) {
      const reply = {
        calls: [
          { id: 'a', ...seoul },
          { id: 'b', ...busan },
        ],
        index,
      }
      const { toolbox, report } = await runAgainst(door, [reply, answer], true)
      if (title === 'chat' && index === 'none') {
        // OpenAI's own API always gives one; the package reads nothing else from it.
        assert.deepEqual([report.stop, toolbox.calls.length], ['model-fault', 0])
        continue
      }
      assert.deepEqual(
        toolbox.calls.map((call) => call.argumentsText),
        ['{"location":"Seoul"}', '{"location":"Busan"}'],
        index,
      )
    }
  })
}

test('Anthropic: an overload in the middle of a stream is asked again, and nothing of the broken turn is done', async () => {
  const broken = { text: 'Let me', calls: [{ id: 'a', ...seoul }], streamError: 'overloaded_error' }
  const { toolbox, report, events } = await runAgainst(doors.anthropic, [broken, answer], true)
  assert.equal(toolbox.calls.length, 0)
  assert.equal(report.text, 'Done.')
  assert.match(events.find((event) => event.kind === 'retry')!.why, /^HTTP 529/)
  const wrong = { text: 'Let me', streamError: 'invalid_request_error' }
  assert.equal((await runAgainst(doors.anthropic, [wrong, answer], true)).report.stop, 'model-fault')
})

test('T24: a call that a program at the provider issued is not made, with either provider that has such programs', async () => {
  for (const streaming of [true, false]) {
    const atAnthropic = { id: 'a', ...seoul, caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' } }
    const one = await runAgainst(doors.anthropic, [{ calls: [atAnthropic] }, answer], streaming)
    assert.equal(one.toolbox.calls.length, 0)
    assert.match(one.provider.requests[1]!.text, /NOT RUN: the call was issued by a program/)
    assert.doesNotMatch(one.provider.requests[1]!.text, /srvtoolu_1/)
    const direct = { ...atAnthropic, caller: { type: 'direct' } }
    assert.equal((await runAgainst(doors.anthropic, [{ calls: [direct] }, answer], streaming)).toolbox.calls.length, 1)
    const atOpenAI = { id: 'a', ...seoul, caller: { type: 'program', caller_id: 'prog_1' } }
    const two = await runAgainst(doors.responses, [{ calls: [atOpenAI] }, answer], streaming)
    assert.equal(two.toolbox.calls.length, 0)
    assert.doesNotMatch(two.provider.requests[1]!.text, /prog_1/)
  }
})

test('Responses: reasoning goes back encrypted as it came, and nothing is kept on the other side', async () => {
  const reply = { thought: { text: 'hm', signature: 'ZW5jcnlwdGVk' }, calls: [{ id: 'a', ...seoul }] }
  for (const streaming of [true, false]) {
    const { provider } = await runAgainst(doors.responses, [reply, answer], streaming)
    const [first, second] = provider.requests
    assert.equal(first!.body['store'], false)
    const reasoning = messagesOf(second!.body, 'input').find((item) => item['type'] === 'reasoning')!
    assert.equal(reasoning['encrypted_content'], 'ZW5jcnlwdGVk')
    assert.deepEqual(messagesOf(second!.body, 'input').at(-1), {
      type: 'function_call_output',
      call_id: 'a',
      output: 'Seoul: 15 °C',
    })
  }
})

test('Gemini: signatures go back unchanged, on the first of several calls only; T7: results are text under one key', async () => {
  const reply = {
    calls: [
      { id: 'a', ...seoul, signature: 'c2lnbmVk' },
      { id: 'b', ...busan },
    ],
  }
  const result = { content: [], structuredContent: { $ref: '#/x' } }
  for (const streaming of [true, false]) {
    const toolbox = testToolbox(undefined, () => ({ kind: 'result', value: result, isError: false }))
    const { provider } = await runAgainst(doors.google, [reply, answer], streaming, { toolbox })
    const contents = messagesOf(provider.requests[1]!.body, 'contents')
    assert.deepEqual(contents[1]!['parts'], [
      { functionCall: { id: 'a', name, args: { location: 'Seoul' } }, thoughtSignature: 'c2lnbmVk' },
      { functionCall: { id: 'b', name, args: { location: 'Busan' } } },
    ])
    assert.deepEqual((contents[2]!['parts'] as readonly JsonObject[])[0], {
      functionResponse: { id: 'a', name, response: { name, content: '{"$ref":"#/x"}' } },
    })
  }
})

test('Gemini before 3 takes no picture inside a result: one response with a sentence, no made-up success', async () => {
  const content = [
    { type: 'text', text: 'map' },
    { type: 'image', mimeType: 'image/png', data: redPixel },
  ]
  const toolbox = testToolbox(undefined, () => ({ kind: 'result', value: { content }, isError: false }))
  const door = { ...doors.google, spec: 'google:gemini-2.5-flash' }
  const { provider } = await runAgainst(door, [{ calls: [{ id: 'a', ...seoul }] }, answer], true, { toolbox })
  assert.deepEqual(messagesOf(provider.requests[1]!.body, 'contents').at(-1)!['parts'], [
    {
      functionResponse: {
        id: 'a',
        name,
        response: { name, content: 'map\n[image not shown: image/png, 70 bytes]' },
      },
    },
  ])
})

test('Gemini: a malformed call is reported by its finish reason, and nothing is called', async () => {
  const reply = { text: '', calls: [{ id: 'a', ...seoul }], finish: 'MALFORMED_FUNCTION_CALL' }
  const { toolbox, report } = await runAgainst(doors.google, [reply], true)
  assert.equal(toolbox.calls.length, 0)
  assert.equal(report.stop, 'cut-short')
})

test('T23: a tool whose name every object has is called and goes back under its projected name', async () => {
  const offer = { exported: 'constructor', description: 'Builds.', inputSchema: { type: 'object' }, server: 's' }
  const toolbox = testToolbox([offer])
  const probe = await runAgainst(doors.responses, [answer], true, { toolbox })
  const projected = messagesOf(probe.provider.requests[0]!.body, 'tools')[0]!['name'] as string
  assert.match(projected, /^constructor_[0-9a-f]{12}$/)
  const { provider } = await runAgainst(doors.responses, [{ calls: [{ id: 'a', name: projected }] }, answer], true, {
    toolbox,
  })
  assert.equal(toolbox.calls[0]!.exported, 'constructor')
  const call = messagesOf(provider.requests[1]!.body, 'input').find((item) => item['type'] === 'function_call')!
  assert.equal(call['name'], projected)
})
