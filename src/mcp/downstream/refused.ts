import type { Answer } from '../../flow/answer.ts'
import { type RefusalCode, refusals } from '../../words/refusals.ts'
import type { Facts } from '../../words/verdict.ts'
import type { Json, JsonObject } from '../../words/json.ts'

export type Refused = Extract<Answer, { kind: 'refused' }>

/** Ours, outside of the range that JSON-RPC and MCP keep for themselves (-32768 to -32000). `data.code` says which refusal. */
export const REFUSED = -31000

const MOST_LINES = 12
const LONGEST = 240

/** What a client may be told of a refusal, for programs. */
export function refusalData(refused: Refused): JsonObject {
  const { code, facts, operation, approval } = refused
  return {
    code,
    facts,
    retry: refusals[code].retry,
    ...(operation !== undefined && { operation }),
    ...(approval !== undefined && { approval }),
  }
}

/** The same for a reader, who may be a model: what happened, what to do next, and the facts that are plain values. */
export function refusalText(refused: Refused): string {
  const { code, facts, operation, approval } = refused
  const { say, next } = refusals[code]
  const lines = [`${code}: ${say}`, approval === undefined ? next : next.replaceAll(/\bID\b/g, approval)]
  if (approval !== undefined) lines.push(`approval: ${approval}`)
  if (operation !== undefined) lines.push(`operation: ${operation}`)
  lines.push(...factLines(facts))
  return lines.join('\n')
}

export function refused(code: RefusalCode, facts: Facts = {}): Refused {
  return { kind: 'refused', code, facts, steps: [] }
}

// Objects are left out: they hold texts of servers (the differences of a changed tool, for one), which nobody approved for a
// model to read.
function factLines(facts: Facts): string[] {
  const lines: string[] = []
  for (const [name, value] of Object.entries(facts)) {
    const values: readonly Json[] = Array.isArray(value) ? (value as readonly Json[]) : [value]
    for (const one of values) {
      if (typeof one !== 'string' && typeof one !== 'number' && typeof one !== 'boolean') continue
      if (lines.length === MOST_LINES) return lines
      lines.push(`${name}: ${oneLine(String(one))}`)
    }
  }
  return lines
}

// Control characters and those that turn or hide text do not belong into a line of facts.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function oneLine(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text
  return cut.replaceAll(UNSEEN, ' ')
}
