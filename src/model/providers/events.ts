import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import type { Issuer, ModelEvent } from '../port.ts'

type Complete = Extract<ModelEvent, { kind: 'part' | 'proposal' }>

/** A text or a line of thought that is still being written. */
interface Open {
  readonly kind: 'text' | 'reasoning'
  text: string
  replay: JsonObject | undefined
}

/**
 * A stream as events. Fragments are told as they come; finished parts and proposals are told together, in their order,
 * once the provider has said how the turn ended, so that nothing of a broken turn can be taken for whole.
 * Throws whatever the stream reports as an error.
 */
export async function* streamedEvents(stream: AsyncIterable<LanguageModelV4StreamPart>): AsyncGenerator<ModelEvent> {
  const order: (Open | Complete)[] = []
  const open = new Map<string, Open>()
  for await (const part of stream) {
    switch (part.type) {
      case 'stream-start':
        yield* part.warnings.map(warningOf)
        break
      case 'text-start':
      case 'reasoning-start': {
        const begun: Open = { kind: kindOf(part.type), text: '', replay: replayOf(part.providerMetadata) }
        open.set(`${begun.kind} ${part.id}`, begun)
        order.push(begun)
        break
      }
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end': {
        const growing = open.get(`${kindOf(part.type)} ${part.id}`)
        if (growing === undefined) break
        growing.replay = replayOf(part.providerMetadata) ?? growing.replay
        if (!('delta' in part)) break
        growing.text += part.delta
        if (part.type === 'text-delta' && part.delta !== '') yield { kind: 'text', text: part.delta }
        break
      }
      case 'tool-input-start':
        yield { kind: 'proposal-started', id: part.id, projectedName: part.toolName }
        break
      case 'tool-input-delta':
        yield { kind: 'argument-fragment', id: part.id, fragment: part.delta }
        break
      case 'tool-call':
      case 'file':
      case 'reasoning-file':
      case 'custom':
        order.push(completeOf(part))
        break
      case 'tool-result':
      case 'tool-approval-request':
        yield executedThere(part)
        break
      case 'error':
        throw part.error
      case 'finish':
        yield* order.map(closed).filter((event) => event !== undefined)
        yield usageOf(part.usage)
        yield finishOf(part.finishReason)
        break
      case 'tool-input-end':
      case 'source':
      case 'response-metadata':
      case 'ping':
      case 'raw':
        break
      default:
        part satisfies never
    }
  }
}

/** An answer that came in one piece, as the same events. */
export function* generatedEvents(result: LanguageModelV4GenerateResult): Generator<ModelEvent> {
  yield* result.warnings.map(warningOf)
  for (const part of result.content) {
    switch (part.type) {
      case 'text':
      case 'reasoning': {
        if (part.type === 'text' && part.text !== '') yield { kind: 'text', text: part.text }
        const event = closed({ kind: part.type, text: part.text, replay: replayOf(part.providerMetadata) })
        if (event !== undefined) yield event
        break
      }
      case 'tool-call':
      case 'file':
      case 'reasoning-file':
      case 'custom':
        yield completeOf(part)
        break
      case 'tool-result':
      case 'tool-approval-request':
        yield executedThere(part)
        break
      case 'source':
        break
      default:
        part satisfies never
    }
  }
  yield usageOf(result.usage)
  yield finishOf(result.finishReason)
}

function kindOf(type: string): 'text' | 'reasoning' {
  return type.startsWith('text') ? 'text' : 'reasoning'
}

function closed(part: Open | Complete): ModelEvent | undefined {
  if (part.kind === 'part' || part.kind === 'proposal') return part
  const { kind, text, replay } = part
  // An empty one is kept where it carries a signature, and refused by providers where it does not.
  if (text === '' && replay === undefined) return undefined
  return { kind: 'part', part: { kind, text, ...(replay === undefined ? {} : { replay }) } }
}

function completeOf(
  part: Extract<LanguageModelV4Content, { type: 'tool-call' | 'file' | 'reasoning-file' | 'custom' }>,
): Complete {
  const replay = replayOf(part.providerMetadata)
  if (part.type !== 'tool-call') {
    const { providerMetadata, ...rest } = part
    const value = { ...rest, ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }) }
    return { kind: 'part', part: { kind: 'opaque', value: value as unknown as Json } }
  }
  return {
    kind: 'proposal',
    id: part.toolCallId ?? '',
    projectedName: part.toolName,
    rawArguments: part.input,
    caller: part.providerExecuted === true ? 'provider' : issuerOf(replay),
    ...(replay === undefined ? {} : { replay }),
  }
}

// Providers that let a program of theirs issue calls say so in `caller`; without the member it is the model.
function issuerOf(replay: JsonObject | undefined): Issuer {
  for (const about of Object.values(replay ?? {})) {
    const caller = isJsonObject(about) ? member(about, 'caller') : undefined
    if (isJsonObject(caller) && member(caller, 'type') !== 'direct') return 'program'
  }
  return 'model'
}

function replayOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined {
  return metadata === undefined ? undefined : (metadata as unknown as JsonObject)
}

function executedThere(part: { readonly type: string; readonly toolCallId: string }): ModelEvent {
  return { kind: 'warning', message: `the provider sent a ${part.type} of its own, which was not asked for` }
}

function usageOf(usage: LanguageModelV4Usage): ModelEvent {
  const inputTokens = usage.inputTokens.total
  const outputTokens = usage.outputTokens.total
  return {
    kind: 'usage',
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  }
}

function finishOf({ unified, raw }: LanguageModelV4FinishReason): ModelEvent {
  // No reason at all is what is left of a stream that ended in the middle.
  if (raw === undefined) return { kind: 'finish', unified: unified === 'other' ? 'interrupted' : unified }
  return { kind: 'finish', unified, raw }
}

function warningOf(warning: SharedV4Warning): ModelEvent {
  return {
    kind: 'warning',
    message: 'message' in warning ? warning.message : `${warning.feature}: ${warning.details ?? warning.type}`,
  }
}
