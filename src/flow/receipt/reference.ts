import type { JsonObject } from '../../words/json.ts'
import { resolvePointer } from '../tool/pointer.ts'

const LONGEST = 500

/** What the upstream calls the thing that it made or did, where the profile says that it is to be found. */
export function receiptOf(result: JsonObject, at: string): string | undefined {
  const [first] = resolvePointer(result, at).values
  if (typeof first !== 'string' && typeof first !== 'number') return undefined
  return String(first).slice(0, LONGEST).toWellFormed()
}
