import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Secret } from '../../words/secret.ts'
import type { ModelEvent, ModelPort, Turn } from '../port.ts'
import type { ProjectedTool } from '../projection/offers.ts'
import type { Profile } from '../projection/profiles.ts'
import { generatedEvents, streamedEvents } from './events.ts'
import { faultOf } from './fault.ts'
import { promptOf, toolsOf } from './prompt.ts'
import { FAILED_RESULTS } from './wire.ts'

export interface LanguageModelOptions {
  readonly label: string
  readonly profile: Profile
  /** Loads the provider's package; called with the first turn and never before. */
  readonly open: () => Promise<LanguageModelV4>
  readonly key: Secret | undefined
  readonly streaming: boolean
  readonly providerOptions: SharedV4ProviderOptions
}

/** A ModelPort over a provider package's model. The package sends one request per turn, and repeats none. */
export function languageModel(options: LanguageModelOptions): ModelPort {
  const { label, profile, key } = options
  let opened: Promise<LanguageModelV4> | undefined
  return {
    label,
    scripted: false,
    profile,
    async *propose(turn, tools, signal) {
      try {
        opened ??= options.open()
        yield* asked(await opened, options, turn, tools, signal)
      } catch (thrown) {
        signal.throwIfAborted()
        throw faultOf(thrown, key)
      }
    },
  }
}

async function* asked(
  model: LanguageModelV4,
  { profile, streaming, providerOptions }: LanguageModelOptions,
  turn: Turn,
  tools: readonly ProjectedTool[],
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { prompt, failedWithPictures } = promptOf(turn, profile)
  const call = {
    prompt,
    tools: toolsOf(tools, profile),
    abortSignal: signal,
    providerOptions,
    ...(failedWithPictures.length === 0
      ? {}
      : { headers: { [FAILED_RESULTS]: failedWithPictures.map(encodeURIComponent).join(',') } }),
  }
  if (streaming) yield* streamedEvents((await model.doStream(call)).stream)
  else yield* generatedEvents(await model.doGenerate(call))
}
