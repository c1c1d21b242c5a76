import { stripTypeScriptTypes } from 'node:module'
import type { ToolAnswer, ToolCall, Toolbox, ToolOffer } from '../model/toolbox.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../words/json.ts'
import { digest } from '../words/digest.ts'
import type { CallEnd, CodeLimits, Executor, RunEnd } from './executor.ts'
import type { Journal } from './journal.ts'
import { apiTree } from './tree.ts'

export interface Program {
  readonly text: string
  readonly journal: Journal
  readonly conversation: string
}

/** What became of a program, and of the calls in it that nobody has the end of. */
export interface ProgramEnd {
  readonly end: RunEnd
  /** Calls that wait for a person: the same run, begun again when the yes is there, goes on from there. */
  readonly waiting: readonly { readonly tool: string; readonly approval?: string }[]
  /** Calls that were sent and not answered. They are never sent again. */
  readonly unknown: readonly { readonly tool: string; readonly operation: string }[]
}

/** Names of the errors that a call in a program can throw. */
export const errorNames = {
  refused: 'Refused',
  waiting: 'Waiting',
  unknown: 'OutcomeUnknown',
  tool: 'ToolError',
} as const

/**
 * Runs a program of a model: each call in it is a proposal like any other. Nothing that a tool answers leaves the sandbox but
 * what the program prints or returns.
 */
export async function runProgram(
  { text, journal, conversation }: Program,
  offers: readonly ToolOffer[],
  toolbox: Pick<Toolbox, 'call'>,
  executor: Executor,
  limits: CodeLimits,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const waiting: { tool: string; approval?: string }[] = []
  const unknown: { tool: string; operation: string }[] = []
  const finish = (end: RunEnd): ProgramEnd => ({ end, waiting, unknown })
  const source = sourceOf(text, limits)
  if (typeof source !== 'string') return finish({ ...source, printed: '', calls: 0 })
  const { servers } = apiTree(offers)
  const api = Object.fromEntries([...servers].map(([server, functions]) => [server, [...functions.keys()]]))
  let made = 0
  const call = async (server: string, name: string, argumentsText: string): Promise<CallEnd> => {
    const offer = servers.get(server)?.get(name)
    if (offer === undefined)
      return { ok: false, name: errorNames.refused, message: `there is no servers.${server}.${name}` }
    const key = journal.nextKey(offer.exported, argumentsText)
    const before = journal.found(key)
    if (before !== undefined) return before
    const asked: ToolCall = {
      exported: offer.exported,
      argumentsText,
      callId: `${journal.run}:${++made}`,
      conversation,
      door: 'code',
      requestKey: key,
    }
    const answer = await toolbox.call(asked, signal)
    if (answer.kind === 'unknown') unknown.push({ tool: offer.exported, operation: answer.operation })
    if (answer.kind === 'refused' && answer.code === 'APPROVAL_WAITING') {
      waiting.push({ tool: offer.exported, ...(answer.approval === undefined ? {} : { approval: answer.approval }) })
    }
    const end = endOf(answer)
    // What a gate refused was not done, and is asked again; all else is what this call came to.
    if (answer.kind !== 'refused') journal.keep(key, end)
    return end
  }
  const seed = Number.parseInt(digest(journal.run).slice(0, 8), 16)
  return finish(await executor.run({ source, api, at: journal.startedAt, seed, call }, limits, signal))
}

/** The program as JavaScript: types blanked out, so that every word stays on its line. */
function sourceOf(
  text: string,
  limits: CodeLimits,
): string | { readonly kind: 'threw'; name: string; message: string } {
  if (Buffer.byteLength(text) > limits.programBytes) {
    return { kind: 'threw', name: 'RangeError', message: `the program has more than ${limits.programBytes} bytes` }
  }
  try {
    return stripTypeScriptTypes(`async function main() { ${text}\n}`, { mode: 'strip' })
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault)
    return { kind: 'threw', name: 'SyntaxError', message: message.slice(0, 500) }
  }
}

function endOf(answer: ToolAnswer): CallEnd {
  switch (answer.kind) {
    case 'result':
      return answer.isError
        ? { ok: false, name: errorNames.tool, message: textOf(answer.value).slice(0, 4_000) }
        : { ok: true, text: JSON.stringify(valueOf(answer.value)) }
    case 'refused': {
      const { code, say, next } = answer
      const name = code === 'APPROVAL_WAITING' ? errorNames.waiting : errorNames.refused
      return { ok: false, name, message: `${code}: ${say} ${next}` }
    }
    case 'unknown':
      return {
        ok: false,
        name: errorNames.unknown,
        message: `${answer.operation}: ${answer.why}. It is not sent again.`,
      }
    default:
      return answer satisfies never
  }
}

/** What a program works with: structured content, or the one text that there is, or the result as it is. */
function valueOf(result: JsonObject): unknown {
  const structured = member(result, 'structuredContent')
  if (structured !== undefined) return structured
  const content = member(result, 'content')
  const texts = Array.isArray(content) ? content : []
  const only = texts.length === 1 ? (texts[0] as JsonObject) : undefined
  return only !== undefined && only['type'] === 'text' ? only['text'] : result
}

function textOf(result: JsonObject): string {
  const content = member(result, 'content')
  if (!Array.isArray(content)) return JSON.stringify(result)
  return (content as readonly Json[])
    .map((block) =>
      isJsonObject(block) ? (textMember(block, 'text') ?? `[${textMember(block, 'type') ?? 'content'}]`) : '',
    )
    .join('\n')
}
