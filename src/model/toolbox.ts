import type { Answer } from '../flow/answer.ts'
import type { Acceptance } from '../flow/side-effect/operation.ts'
import type { JsonObject } from '../words/json.ts'
import { type RefusalCode, refusals } from '../words/refusals.ts'
import type { Facts } from '../words/verdict.ts'

/** A tool that the principal may see and call, as it was approved. */
export interface ToolOffer {
  /** The name by which it is called here; unique among the offers. */
  readonly exported: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly server: string
  /** Told to a provider that can keep it from the model until a search names it; any other is shown it like the rest. */
  readonly deferred?: true
}

export interface ToolCall {
  readonly exported: string
  /** The arguments as JSON text, under the server's own names; it is parsed strictly behind this port. */
  readonly argumentsText: string
  readonly callId: string
  readonly conversation: string
  /** Where it is made by a program, and under which key it happens once. */
  readonly door?: 'code'
  readonly requestKey?: string
}

/** The port to the gates: all that a model's loop can do with tools. Nothing in `model/` reaches a server in another way. */
export interface Toolbox {
  offers(signal: AbortSignal): Promise<readonly ToolOffer[]>
  call(call: ToolCall, signal: AbortSignal): Promise<ToolAnswer>
}

/** What became of a call, as plain data. */
export type ToolAnswer =
  | {
      readonly kind: 'result'
      /** A `tools/call` result (MCP, "Tool Result"). */
      readonly value: JsonObject
      readonly isError: boolean
      readonly operation?: string
      readonly acceptance?: Acceptance
      /** Signs of injection that the result gate found: labels for the reader. */
      readonly signs?: readonly string[]
      /** Tools that a search found, by their exported names. */
      readonly tools?: readonly string[]
      /** URI of the whole, where only its beginning is here. */
      readonly spilled?: string
    }
  | {
      readonly kind: 'refused'
      readonly code: RefusalCode
      readonly say: string
      readonly next: string
      readonly facts: Facts
      readonly approval?: string
      readonly operation?: string
    }
  /** Sent, and nobody knows what became of it. */
  | { readonly kind: 'unknown'; readonly operation: string; readonly why: string }

export function toolAnswerOf(answer: Answer): ToolAnswer {
  switch (answer.kind) {
    case 'answered': {
      const { value, isError, remarks } = answer.accepted
      return {
        kind: 'result',
        value,
        isError,
        operation: answer.operation,
        acceptance: answer.acceptance,
        ...(remarks.signs.length > 0 ? { signs: remarks.signs } : {}),
        ...(remarks.spilled === undefined ? {} : { spilled: remarks.spilled }),
      }
    }
    case 'upstream-error': {
      const text = `The server answered with the error ${answer.error.code}: ${answer.error.message}`
      return {
        kind: 'result',
        value: { content: [{ type: 'text', text }], isError: true },
        isError: true,
        operation: answer.operation,
      }
    }
    case 'refused':
      return refusedAnswer(answer.code, answer.facts, answer)
    case 'asked':
      return refusedAnswer('APPROVAL_WAITING', {}, { approval: answer.approval.id })
    case 'unknown':
      return { kind: 'unknown', operation: answer.operation, why: answer.why }
    default:
      return answer satisfies never
  }
}

/** A refusal with its words from the one table. */
export function refusedAnswer(
  code: RefusalCode,
  facts: Facts,
  about: { readonly approval?: string; readonly operation?: string } = {},
): ToolAnswer & { kind: 'refused' } {
  const { say, next } = refusals[code]
  return {
    kind: 'refused',
    code,
    say,
    next,
    facts,
    ...(about.approval === undefined ? {} : { approval: about.approval }),
    ...(about.operation === undefined ? {} : { operation: about.operation }),
  }
}
