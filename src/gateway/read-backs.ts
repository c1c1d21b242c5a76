import type { Flow } from '../flow/answer.ts'
import type { OnBehalf, ReadBacks } from '../flow/receipt/read-back.ts'
import type { WireOutcome } from '../flow/receipt/receipt.ts'
import type { OperationFact, OperationFacts } from '../flow/tool/condition.ts'
import { resolvePointer } from '../flow/tool/pointer.ts'
import type { ReadBack, ToolProfile } from '../flow/tool/profile.ts'
import { type Json, type JsonObject, isJsonObject } from '../words/json.ts'

/**
 * Looks at the world on behalf of an operation: an ordinary call, through every gate, by the principal of that operation.
 * A tool that is not declared to be a read is never used for looking.
 */
export class GovernedReadBacks implements ReadBacks {
  readonly #flow: () => Flow
  readonly #profileOf: (tool: string) => ToolProfile

  /** `flow` is asked for late, since the flow itself needs these. */
  constructor(flow: () => Flow, profileOf: (tool: string) => ToolProfile) {
    this.#flow = flow
    this.#profileOf = profileOf
  }

  async read(
    onBehalf: OnBehalf,
    readBack: ReadBack,
    signal: AbortSignal,
    effect: 'read' | 'idempotent' = 'read',
  ): Promise<WireOutcome> {
    if (this.#profileOf(readBack.tool).effect !== effect)
      return { kind: 'not-sent', why: `${readBack.tool} is not declared to be ${effect}` }
    const slash = readBack.tool.indexOf('/')
    const answer = await this.#flow().call(
      {
        target: { kind: 'tool', server: readBack.tool.slice(0, slash), name: readBack.tool.slice(slash + 1) },
        arguments: { value: filled(readBack.arguments, onBehalf) },
        origin: { door: 'library', conversation: onBehalf.operation },
        credential: { kind: 'library', principal: onBehalf.principal },
      },
      { consent: 'wait', consentWaitMs: 0 },
      signal,
    )
    switch (answer.kind) {
      case 'answered':
        return { kind: 'reply', value: answer.accepted.value, bytes: answer.accepted.bytes }
      case 'upstream-error':
        return { kind: 'error', ...answer.error }
      case 'refused':
        return { kind: 'not-sent', why: answer.code }
      case 'asked':
        return { kind: 'not-sent', why: 'the read itself would need an approval' }
      case 'unknown':
        return { kind: 'no-answer', why: 'closed', detail: answer.why }
      default:
        return answer satisfies never
    }
  }
}

/** `{ "$argument": "/pointer" }` anywhere in the template becomes that part of the judged call's arguments. */
export function filled(template: Json, { arguments: args, facts = {} }: Pick<OnBehalf, 'arguments' | 'facts'>): Json {
  return fill(template, args, facts)
}

function fill(template: Json, args: JsonObject, facts: OperationFacts): Json {
  if (Array.isArray(template)) return (template as readonly Json[]).map((part) => fill(part, args, facts))
  if (!isJsonObject(template)) return template
  const fact = template['$operation']
  if (typeof fact === 'string' && Object.keys(template).length === 1) return facts[fact as OperationFact] ?? null
  const pointer = template['$argument']
  if (typeof pointer === 'string' && Object.keys(template).length === 1) {
    const { values } = resolvePointer(args, pointer)
    return pointer.split('/').includes('*') ? values : (values[0] ?? null)
  }
  return Object.fromEntries(Object.entries(template).map(([key, part]) => [key, fill(part, args, facts)]))
}
