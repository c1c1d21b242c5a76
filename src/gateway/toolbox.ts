import type { Answer, Caller } from '../flow/answer.ts'
import { toolAnswerOf, type Toolbox, type ToolOffer } from '../model/toolbox.ts'
import type { Core } from './assemble.ts'

export interface ToolboxOptions {
  /** `local` where the person at this machine runs the loop; a library names its own principal. */
  readonly principal: string
  readonly caller?: Omit<Caller, 'consent'>
  /** Sees every answer with its steps, before the model gets its part of it. */
  readonly onAnswer?: (answer: Answer) => void
}

/** The host loop's tools, in the process of the gateway. */
export function coreToolbox(core: Core, offers: () => readonly ToolOffer[], options: ToolboxOptions): Toolbox {
  return {
    offers: () => Promise.resolve(offers()),
    call: async ({ exported, argumentsText, callId, conversation, door, requestKey }, signal) => {
      const answer = await core.flow.call(
        {
          target: { kind: 'tool', exported },
          arguments: { text: argumentsText },
          origin: { door: door ?? 'host', callId, conversation, ...(requestKey === undefined ? {} : { requestKey }) },
          credential: { kind: 'library', principal: options.principal },
        },
        { consent: 'wait', ...options.caller },
        signal,
      )
      options.onAnswer?.(answer)
      return toolAnswerOf(answer)
    },
  }
}
