import { type JsonObject, isJsonObject } from '../../words/json.ts'
import { parseStrict } from '../../words/strict-json.ts'
import { type KeyPlan, restoreKeys } from './keys.ts'

export type ReadArguments =
  | {
      readonly kind: 'read'
      /** JSON text under the server's own names, for the gates, which parse it strictly again. */
      readonly text: string
      /** What the model is shown of its own call in later turns: an object, whatever it was. */
      readonly shown: JsonObject
    }
  | { readonly kind: 'unreadable'; readonly say: string }

// Only a guard for this process: the limits that a call is judged by are those of the proposal.
const LIMITS = { bytes: 16 * 1024 * 1024, depth: 256 }

/** What a model sent as arguments, as text. No text at all means no arguments; providers send that for tools without any. */
export function readArguments(raw: string, keys: KeyPlan): ReadArguments {
  const text = raw.trim() === '' ? '{}' : raw
  const parsed = parseStrict(text, LIMITS)
  if (!parsed.ok) {
    // These two are well-formed JSON that two readers could understand differently. The gates refuse it, and record that they did.
    if (parsed.code === 'DUPLICATE_KEY' || parsed.code === 'NUMBER_OUT_OF_RANGE')
      return { kind: 'read', text, shown: {} }
    return { kind: 'unreadable', say: `The arguments cannot be read: ${parsed.detail}, at character ${parsed.at}.` }
  }
  if (!isJsonObject(parsed.value)) {
    return { kind: 'unreadable', say: 'The arguments of a call are one JSON object, and these are something else.' }
  }
  if (keys.size === 0) return { kind: 'read', text, shown: parsed.value }
  const restored = restoreKeys(parsed.value, keys)
  if (restored === undefined) return { kind: 'unreadable', say: 'Two of the arguments have the same name.' }
  return { kind: 'read', text: JSON.stringify(restored), shown: parsed.value }
}
