import { canonical } from '../../words/canonical.ts'
import { type Json, type JsonObject, isJsonObject, textMember } from '../../words/json.ts'
import { parseStrict } from '../../words/strict-json.ts'
import { resolvePointer } from './pointer.ts'

/**
 * One closed sentence about a tool's result. `at` is a JSON pointer into the result (`/content/0/text`,
 * `/structuredContent/total`); `inJson` continues inside a text that is itself JSON. No code, no patterns: an operator's
 * file cannot make the gateway compute. Where `*` leads to several values, one that fits is enough.
 */
export interface Condition {
  readonly at: string
  /** A pointer into the JSON that the text at `at` holds. */
  readonly inJson?: string
  readonly exists?: boolean
  readonly equals?: Json | { readonly $argument: string } | { readonly $operation: OperationFact }
  readonly contains?: string | { readonly $argument: string } | { readonly $operation: OperationFact }
}

/** What a look-up may use of the operation itself: the key that the upstream knows it by, and what it gave back. */
export type OperationFact = 'upstreamKey' | 'receipt' | 'task'
export type OperationFacts = Readonly<Partial<Record<OperationFact, string>>>

const NO_FACTS: OperationFacts = Object.freeze({})

/** Bounds of a text that is read as JSON within a result. */
const INNER = { bytes: 4 << 20, depth: 64 }

/**
 * Whether all conditions hold of a result. What cannot be read does not hold, and neither does an empty list: both would
 * otherwise prove something by saying nothing.
 *
 * @param arguments_ Arguments of the judged call, which `$argument` points into.
 */
export function holds(
  conditions: readonly Condition[],
  result: JsonObject,
  arguments_: JsonObject,
  facts: OperationFacts = NO_FACTS,
): boolean {
  return conditions.length > 0 && conditions.every((condition) => holdsOne(condition, result, arguments_, facts))
}

function holdsOne(condition: Condition, result: JsonObject, arguments_: JsonObject, facts: OperationFacts): boolean {
  let values = resolvePointer(result, condition.at).values
  if (condition.inJson !== undefined) values = values.flatMap((value) => inside(value, condition.inJson!))
  if (condition.exists === false) return values.length === 0
  return values.some((value) => fits(value, condition, arguments_, facts))
}

function inside(value: Json, pointer: string): readonly Json[] {
  if (typeof value !== 'string') return []
  const parsed = parseStrict(value, INNER)
  return parsed.ok ? resolvePointer(parsed.value, pointer).values : []
}

function fits(value: Json, condition: Condition, arguments_: JsonObject, facts: OperationFacts): boolean {
  if (condition.equals !== undefined) {
    const wanted = fill(condition.equals, arguments_, facts)
    if (wanted === undefined || !same(value, wanted)) return false
  }
  if (condition.contains !== undefined) {
    const wanted = fill(condition.contains, arguments_, facts)
    if (wanted === undefined || !contains(value, wanted)) return false
  }
  return true
}

function fill(stated: Json, arguments_: JsonObject, facts: OperationFacts): Json | undefined {
  if (!isJsonObject(stated) || Object.keys(stated).length !== 1) return stated
  const fact = textMember(stated, '$operation')
  if (fact !== undefined) return facts[fact as OperationFact]
  const pointer = textMember(stated, '$argument')
  if (pointer === undefined) return stated
  const { values } = resolvePointer(arguments_, pointer)
  return values.length === 1 ? values[0] : undefined
}

function same(one: Json, other: Json): boolean {
  if (typeof one !== 'object' || one === null) return one === other
  return typeof other === 'object' && other !== null && canonical(one, 256) === canonical(other, 256)
}

// An empty text is in every text, and so says nothing.
function contains(value: Json, wanted: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some((item) => same(item, wanted))
  if (typeof value !== 'string' || typeof wanted === 'object') return false
  const text = String(wanted)
  return text !== '' && value.includes(text)
}
