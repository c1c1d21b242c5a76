import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import type { ToolAnswer, ToolOffer } from '../toolbox.ts'
import { readArguments } from './arguments.ts'
import type { Block } from './content.ts'
import { type ProjectedTool, type Projection, projectTools } from './offers.ts'
import { type PresentOptions, present } from './present.ts'
import { profileOf } from './profiles.ts'

// For an application that has its own model loop: the two wire forms, there and back. The loop of `model/` does not use them.

export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonObject
}

export interface OpenAIResponsesTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
  readonly strict: false
}

/** For `tools` of the Messages API. A tool that cannot be told of is left out; `projectTools` says which, and why. */
export function toAnthropicTools(offers: readonly ToolOffer[]): AnthropicTool[] {
  return projectTools(offers, profileOf('anthropic')).tools.map(({ projectedName, description, inputSchema }) => ({
    name: projectedName,
    description,
    input_schema: inputSchema,
  }))
}

/** For `tools` of the Responses API. `strict` is always said: where it is missing, the server decides by the schema. */
export function toOpenAIResponsesTools(offers: readonly ToolOffer[]): OpenAIResponsesTool[] {
  return projectTools(offers, profileOf('openai-responses')).tools.map(
    ({ projectedName, description, inputSchema }) => ({
      type: 'function',
      name: projectedName,
      description,
      parameters: inputSchema,
      strict: false,
    }),
  )
}

export type ReadCall =
  | { readonly kind: 'call'; readonly callId: string; readonly exported: string; readonly argumentsText: string }
  | { readonly kind: 'unreadable'; readonly callId: string; readonly say: string }

/** A `tool_use` block, whose input is an object, as a call of one of the tools that were offered. */
export function readAnthropicToolUse(block: unknown, offers: readonly ToolOffer[]): ReadCall {
  if (!isJsonObject(block) || member(block, 'type') !== 'tool_use') return unreadable('', 'This is no tool_use block.')
  const callId = textMember(block, 'id') ?? ''
  const caller = member(block, 'caller')
  if (isJsonObject(caller) && member(caller, 'type') !== 'direct') return unreadable(callId, NOT_THE_MODEL)
  const raw = JSON.stringify(member(block, 'input') ?? {})
  return readCall(callId, textMember(block, 'name'), raw, projectTools(offers, profileOf('anthropic')))
}

/** A `function_call` item, whose arguments are JSON text and may be empty. */
export function readOpenAIFunctionCall(item: unknown, offers: readonly ToolOffer[]): ReadCall {
  if (!isJsonObject(item) || member(item, 'type') !== 'function_call') {
    return unreadable('', 'This is no function_call item.')
  }
  const callId = textMember(item, 'call_id') ?? ''
  const caller = member(item, 'caller')
  if (isJsonObject(caller) && member(caller, 'type') !== 'direct') return unreadable(callId, NOT_THE_MODEL)
  const raw = textMember(item, 'arguments') ?? ''
  return readCall(callId, textMember(item, 'name'), raw, projectTools(offers, profileOf('openai-responses')))
}

const NOT_THE_MODEL = 'The call was not issued by the model itself but by a program at the provider.'

function readCall(callId: string, name: string | undefined, raw: string, projection: Projection): ReadCall {
  if (callId === '') return unreadable(callId, 'The call has no id.')
  const tool: ProjectedTool | undefined = name === undefined ? undefined : projection.byProjectedName(name)
  if (tool === undefined) return unreadable(callId, 'There is no tool of that name.')
  const read = readArguments(raw, tool.keys)
  if (read.kind === 'unreadable') return unreadable(callId, read.say)
  return { kind: 'call', callId, exported: tool.exported, argumentsText: read.text }
}

function unreadable(callId: string, say: string): ReadCall {
  return { kind: 'unreadable', callId, say }
}

export interface AnthropicToolResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly Json[]
  readonly is_error?: true
}

/** The block that answers a `tool_use`; all of one turn go together into the next user message, before anything else. */
export function anthropicToolResult(id: string, answer: ToolAnswer, options?: PresentOptions): AnthropicToolResult {
  const { isError, blocks } = present(answer, profileOf('anthropic'), options)
  const content = blocks.map((block: Block): Json =>
    block.kind === 'text'
      ? { type: 'text', text: block.text }
      : { type: 'image', source: { type: 'base64', media_type: block.mediaType, data: block.base64 } },
  )
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true as const } : {}) }
}

export interface OpenAIFunctionCallOutput {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: string | readonly Json[]
}

/** The item that answers a `function_call`. There is no flag for an error: its text begins with a marker. */
export function openaiFunctionCallOutput(
  callId: string,
  answer: ToolAnswer,
  options?: PresentOptions,
): OpenAIFunctionCallOutput {
  const { blocks } = present(answer, profileOf('openai-responses'), options)
  const output = blocks.every((block) => block.kind === 'text')
    ? blocks.map((block) => block.text).join('\n')
    : blocks.map((block): Json =>
        block.kind === 'text'
          ? { type: 'input_text', text: block.text }
          : { type: 'input_image', detail: 'auto', image_url: `data:${block.mediaType};base64,${block.base64}` },
      )
  return { type: 'function_call_output', call_id: callId, output }
}
