import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { JsonObject } from '../../words/json.ts'
import type { ModelPart, ToolResult, Turn } from '../port.ts'
import type { ProjectedTool } from '../projection/offers.ts'
import type { Profile } from '../projection/profiles.ts'

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]

export interface Prompted {
  readonly prompt: LanguageModelV4Prompt
  /** Ids of results that failed and hold a picture: the wire form of such a result has to be mended. */
  readonly failedWithPictures: readonly string[]
}

export function promptOf(turn: Turn, profile: Profile): Prompted {
  const failedWithPictures: string[] = []
  const prompt: LanguageModelV4Message[] = []
  if (turn.system !== '') prompt.push({ role: 'system', content: turn.system })
  for (const message of turn.messages) {
    switch (message.from) {
      case 'user':
        prompt.push({ role: 'user', content: [{ type: 'text', text: message.text }] })
        break
      case 'model':
        prompt.push({ role: 'assistant', content: message.parts.map(assistantPart) })
        break
      case 'tools':
        prompt.push({
          role: 'tool',
          content: message.results.map((result) => resultPart(result, profile, failedWithPictures)),
        })
        break
      default:
        message satisfies never
    }
  }
  return { prompt, failedWithPictures }
}

/** The tools of a request. There is no function in them that could be run. */
export function toolsOf(tools: readonly ProjectedTool[], profile: Profile): LanguageModelV4FunctionTool[] {
  return tools.map(({ projectedName, description, inputSchema, deferred }) => ({
    type: 'function',
    name: projectedName,
    description,
    inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
    ...(profile.saysNotStrict ? { strict: false } : {}),
    ...(deferred ? { providerOptions: { anthropic: { deferLoading: true } } } : {}),
  }))
}

function assistantPart(part: ModelPart): AssistantPart {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return { type: part.kind, text: part.text, ...replayed(part.replay) }
    case 'opaque':
      return part.value as unknown as AssistantPart
    case 'call':
      return {
        type: 'tool-call',
        toolCallId: part.callId,
        toolName: part.projectedName,
        input: part.arguments,
        ...replayed(part.replay),
      }
    default:
      return part satisfies never
  }
}

function replayed(replay: JsonObject | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return replay === undefined ? {} : { providerOptions: replay as unknown as SharedV4ProviderOptions }
}

function resultPart(result: ToolResult, profile: Profile, failed: string[]): LanguageModelV4ToolResultPart {
  const { isError, blocks, references } = result.presented
  const flagged = isError && profile.errorFlag
  const about = { type: 'tool-result', toolCallId: result.callId, toolName: result.projectedName } as const
  if (references !== undefined) {
    // Nothing else may stand in such a result (Anthropic, "Tool search tool", custom search).
    const value = references.map((toolName) => ({
      type: 'custom' as const,
      providerOptions: { anthropic: { type: 'tool-reference', toolName } },
    }))
    return { ...about, output: { type: 'content', value } }
  }
  const texts = blocks.filter((block) => block.kind === 'text')
  if (texts.length === blocks.length) {
    const value = texts.map((block) => block.text).join('\n')
    return { ...about, output: { type: flagged ? 'error-text' : 'text', value } }
  }
  if (flagged) failed.push(result.callId)
  return {
    ...about,
    output: {
      type: 'content',
      value: blocks.map((block) =>
        block.kind === 'text'
          ? { type: 'text', text: block.text }
          : { type: 'file', data: { type: 'data', data: block.base64 }, mediaType: block.mediaType },
      ),
    },
  }
}
