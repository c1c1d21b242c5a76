import type { Config } from '../config/config.ts'
import type { AuthorisedAction } from '../flow/action/index.ts'
import type { Sampled } from '../flow/asking.ts'
import type { Budgets } from '../flow/budget/funded.ts'
import { type Ask, askError, askErrors } from '../flow/receipt/ask.ts'
import { defaultRetry, hear } from '../model/hearing.ts'
import type { Message, ModelPort } from '../model/port.ts'
import { parseModel } from '../model/providers/spec.ts'
import { isJsonObject, type Json, member, textMember } from '../words/json.ts'

export interface SamplerParts {
  readonly model: ModelPort
  readonly budgets: Budgets
  /** The most tokens of one answer, whatever the server asks for. */
  readonly maxTokens: number
  readonly modelMs: number
}

/** Throws where the model cannot be had: a name of no known form, a key that is missing. */
export function samplerFor({ model, maxTokens, waitMs }: NonNullable<Config['sampling']>, budgets: Budgets) {
  const parsed = parseModel(model, process.env, { streaming: false })
  if ('error' in parsed) throw new Error(`sampling.model: ${parsed.error}`)
  return samplerOf({ model: parsed, budgets, maxTokens, modelMs: waitMs })
}

/**
 * Answers a server's request for a model's words with the model of this host (2025-11-25 and 2026-07-28, "Sampling"). It is
 * a call like the one that it belongs to: the same budgets are held for it. The model is offered no tools, so that a server
 * can make it say something, and nothing else.
 */
function samplerOf(parts: SamplerParts) {
  return async (ask: Ask, action: AuthorisedAction, signal: AbortSignal): Promise<Sampled> => {
    const messages = conversationOf(member(ask.params, 'messages'))
    if (messages === undefined)
      return { reply: askError(askErrors.invalidParams, 'Only text can be put to this model'), facts: {} }
    const hold = parts.budgets.hold(action, Date.now())
    if ('code' in hold) return { reply: askError(askErrors.rejected, hold.code), facts: { code: hold.code } }
    const began = performance.now()
    let resultBytes = 0
    try {
      const heard = await hear({
        model: parts.model,
        turn: { system: textMember(ask.params, 'systemPrompt') ?? '', messages },
        tools: [],
        retry: defaultRetry,
        modelMs: parts.modelMs,
        observe: () => {},
        signal,
      })
      const said = heard.said.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
      const wanted = Math.min(parts.maxTokens, Number(member(ask.params, 'maxTokens')))
      const { inputTokens, outputTokens } = heard.usage
      // The port knows no bound on the length: what is beyond it is cut off here, and said to be.
      const isLong = outputTokens > wanted || heard.finish.unified === 'length'
      const text =
        outputTokens > wanted ? said.slice(0, Math.floor((said.length * wanted) / outputTokens)).toWellFormed() : said
      resultBytes = Buffer.byteLength(text, 'utf8')
      return {
        reply: {
          kind: 'result',
          value: {
            role: 'assistant',
            content: { type: 'text', text },
            model: parts.model.label,
            stopReason: isLong ? 'maxTokens' : 'endTurn',
          },
        },
        facts: { model: parts.model.label, inputTokens, outputTokens },
      }
    } finally {
      hold.settle({ wallMs: performance.now() - began, resultBytes })
    }
  }
}

function conversationOf(given: Json | undefined): Message[] | undefined {
  const messages: Message[] = []
  for (const message of Array.isArray(given) ? (given as readonly Json[]) : []) {
    if (!isJsonObject(message)) return undefined
    const content = member(message, 'content')
    const blocks = Array.isArray(content) ? (content as readonly Json[]) : [content]
    const texts = blocks.map((block) =>
      isJsonObject(block) && member(block, 'type') === 'text' ? textMember(block, 'text') : undefined,
    )
    if (texts.includes(undefined)) return undefined
    const text = texts.join('\n')
    messages.push(
      member(message, 'role') === 'assistant'
        ? { from: 'model', parts: [{ kind: 'text', text }] }
        : { from: 'user', text },
    )
  }
  return messages.length === 0 ? undefined : messages
}
