import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redPixel, textResult, weatherOffers } from '../../../test/fixtures/providers/toolbox.ts'
import { refusedAnswer } from '../toolbox.ts'
import {
  anthropicToolResult,
  openaiFunctionCallOutput,
  readAnthropicToolUse,
  readOpenAIFunctionCall,
  toAnthropicTools,
  toOpenAIResponsesTools,
} from './shapes.ts'

const [weather] = weatherOffers
const parameters = {
  properties: { days: { type: 'integer' }, location: { type: 'string' } },
  required: ['location'],
  type: 'object',
}

test('the same tool in the two wire forms', () => {
  assert.deepEqual(toAnthropicTools([weather!]), [
    { name: 'weather__get_weather', description: 'Made-up weather for a place.', input_schema: parameters },
  ])
  assert.deepEqual(toOpenAIResponsesTools([weather!]), [
    {
      type: 'function',
      name: 'weather__get_weather',
      description: 'Made-up weather for a place.',
      parameters,
      strict: false,
    },
  ])
})

test('a tool_use with an object and a function_call with JSON text read as the same call', () => {
  const exported = 'weather__get_weather'
  const read = { kind: 'call', callId: 'c1', exported, argumentsText: '{"location":"Seoul"}' }
  const use = { type: 'tool_use', id: 'c1', name: exported, input: { location: 'Seoul' } }
  assert.deepEqual(readAnthropicToolUse(use, weatherOffers), read)
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: exported, arguments: '{"location":"Seoul"}' }
  assert.deepEqual(readOpenAIFunctionCall(call, weatherOffers), read)
})

test('T10: empty arguments are none, malformed ones are unreadable', () => {
  const call = { type: 'function_call', call_id: 'c1', name: 'weather__get_weather' }
  const empty = readOpenAIFunctionCall({ ...call, arguments: '' }, weatherOffers)
  assert.equal(empty.kind === 'call' && empty.argumentsText, '{}')
  for (const text of ['{', '[1]', 'null', '{}{}']) {
    assert.equal(readOpenAIFunctionCall({ ...call, arguments: text }, weatherOffers).kind, 'unreadable')
  }
  const use = { type: 'tool_use', id: 'c1', name: 'weather__get_weather', input: [1] }
  assert.equal(readAnthropicToolUse(use, weatherOffers).kind, 'unreadable')
})

test('T24: a call that a program at the provider issued is unreadable', () => {
  const use = {
    type: 'tool_use',
    id: 'c1',
    name: 'weather__get_weather',
    input: {},
    caller: { type: 'code_execution_20250825' },
  }
  assert.equal(readAnthropicToolUse(use, weatherOffers).kind, 'unreadable')
  assert.equal(readAnthropicToolUse({ ...use, caller: { type: 'direct' } }, weatherOffers).kind, 'call')
  const call = { type: 'function_call', call_id: 'c1', name: 'weather__get_weather', arguments: '{}' }
  assert.equal(readOpenAIFunctionCall({ ...call, caller: { type: 'program' } }, weatherOffers).kind, 'unreadable')
})

test('what is not a call, has no id or names no offered tool is unreadable', () => {
  assert.equal(readAnthropicToolUse(undefined, weatherOffers).kind, 'unreadable')
  assert.equal(readAnthropicToolUse({ type: 'text' }, weatherOffers).kind, 'unreadable')
  assert.equal(
    readAnthropicToolUse({ type: 'tool_use', name: 'weather__get_weather', input: {} }, weatherOffers).kind,
    'unreadable',
  )
  assert.equal(
    readAnthropicToolUse({ type: 'tool_use', id: 'c', name: 'valueOf', input: {} }, weatherOffers).kind,
    'unreadable',
  )
})

test('a result in the two wire forms; T12: an error is flagged where there is a flag, and marked where there is none', () => {
  assert.deepEqual(anthropicToolResult('c1', textResult('Seoul: 15 °C')), {
    type: 'tool_result',
    tool_use_id: 'c1',
    content: [{ type: 'text', text: 'Seoul: 15 °C' }],
  })
  assert.deepEqual(openaiFunctionCallOutput('c1', textResult('Seoul: 15 °C')), {
    type: 'function_call_output',
    call_id: 'c1',
    output: 'Seoul: 15 °C',
  })
  const failed = textResult('broken', true)
  const image = { type: 'image', mimeType: 'image/png', data: redPixel }
  const withImage = { ...failed, value: { content: [{ type: 'text', text: 'broken' }, image], isError: true } }
  assert.deepEqual(anthropicToolResult('c1', withImage), {
    type: 'tool_result',
    tool_use_id: 'c1',
    content: [
      { type: 'text', text: 'broken' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: redPixel } },
    ],
    is_error: true,
  })
  assert.deepEqual(openaiFunctionCallOutput('c1', withImage).output, [
    { type: 'input_text', text: 'TOOL ERROR: broken' },
    { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${redPixel}` },
  ])
  assert.equal(anthropicToolResult('c1', refusedAnswer('BUDGET_SPENT', {})).is_error, true)
})
