import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelEvent, ModelFault, type ModelPort, type SpokenPart, type Turn, type Unified } from './port.ts'
import type { ProjectedTool } from './projection/offers.ts'
import type { Observer, Usage } from './report.ts'
import { countTokens } from './tokens.ts'

/** One whole turn of a model. Nothing of it is acted upon before it is complete. */
export interface Heard {
  readonly said: readonly (SpokenPart | Proposed)[]
  readonly finish: { readonly unified: Unified; readonly raw?: string }
  readonly usage: Usage
  readonly warnings: readonly string[]
}

export type Proposed = Extract<ModelEvent, { kind: 'proposal' }>

export interface RetryPolicy {
  /** How often a turn is asked for in all. */
  readonly attempts: number
  /** Milliseconds before the second attempt; doubled for each further one. */
  readonly firstWaitMs: number
  /** Milliseconds; where a provider asks for a longer pause the turn is given up. */
  readonly longestWaitMs: number
}

export const defaultRetry: RetryPolicy = Object.freeze({ attempts: 4, firstWaitMs: 1000, longestWaitMs: 60_000 })

export interface Hearing {
  readonly model: ModelPort
  readonly turn: Turn
  readonly tools: readonly ProjectedTool[]
  readonly retry: RetryPolicy
  readonly modelMs: number
  readonly observe: Observer
  readonly signal: AbortSignal
}

/**
 * Asks the model for its turn, again where the provider was busy or the stream broke. That is safe, since a turn has no
 * effect but its cost until the loop acts on it; the cost of broken attempts is not in the usage.
 */
export async function hear(hearing: Hearing): Promise<Heard> {
  const { retry, signal, observe } = hearing
  for (let attempt = 1; ; attempt++) {
    try {
      return await hearOnce(hearing)
    } catch (fault) {
      signal.throwIfAborted()
      if (!(fault instanceof ModelFault) || !fault.retryable || attempt >= retry.attempts) throw fault
      const backoff = Math.min(retry.firstWaitMs * 2 ** (attempt - 1), retry.longestWaitMs)
      // Spread out, so that many hosts that were turned away together do not come back together.
      const waitMs = fault.retryAfterMs ?? Math.round(backoff * (0.75 + Math.random() / 4))
      if (waitMs > retry.longestWaitMs) throw fault
      observe({ kind: 'retry', attempt, waitMs, why: fault.message })
      await sleep(waitMs, undefined, { signal })
    }
  }
}

async function hearOnce({ model, turn, tools, modelMs, observe, signal }: Hearing): Promise<Heard> {
  const deadline = AbortSignal.timeout(modelMs)
  const said: (SpokenPart | Proposed)[] = []
  const warnings: string[] = []
  let usage: Extract<ModelEvent, { kind: 'usage' }> | undefined
  let finish: Heard['finish'] | undefined
  let text = ''
  try {
    for await (const event of model.propose(turn, tools, AbortSignal.any([signal, deadline]))) {
      switch (event.kind) {
        case 'text':
          observe({ kind: 'text', text: event.text })
          break
        case 'proposal-started':
          observe({ kind: 'proposal-started', projectedName: event.projectedName })
          break
        case 'argument-fragment':
          observe({ kind: 'argument-fragment', fragment: event.fragment })
          break
        case 'part':
          said.push(event.part)
          if (event.part.kind !== 'opaque') text += event.part.text
          break
        case 'proposal':
          said.push(event)
          text += event.rawArguments
          break
        case 'usage':
          usage = event
          break
        case 'warning':
          warnings.push(event.message)
          break
        case 'finish':
          finish = { unified: event.unified, ...(event.raw === undefined ? {} : { raw: event.raw }) }
          break
        default:
          event satisfies never
      }
    }
  } catch (fault) {
    if (deadline.aborted && !signal.aborted) {
      throw new ModelFault(`the model did not answer within ${modelMs} ms`, { retryable: false })
    }
    throw fault
  }
  if (finish === undefined || finish.unified === 'interrupted') {
    throw new ModelFault('the answer of the model broke off', { retryable: true })
  }
  return { said, finish, usage: await counted(usage, turn, tools, text), warnings }
}

async function counted(
  told: Extract<ModelEvent, { kind: 'usage' }> | undefined,
  turn: Turn,
  tools: readonly ProjectedTool[],
  said: string,
): Promise<Usage> {
  const { inputTokens, outputTokens } = told ?? {}
  if (inputTokens !== undefined && outputTokens !== undefined) {
    return { inputTokens, outputTokens, estimated: false, method: 'usage' }
  }
  const count = await countTokens()
  return {
    inputTokens: inputTokens ?? count(JSON.stringify(turn)) + count(JSON.stringify(tools)),
    outputTokens: outputTokens ?? count(said),
    estimated: true,
    method: 'o200k',
  }
}
