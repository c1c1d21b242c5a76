import type { Json } from '../../words/json.ts'

/**
 * One closed sentence about a tool's result. `at` is a JSON pointer into the result (`/content/0/text`,
 * `/structuredContent/total`); `inJson` continues inside a text that is itself JSON. No code, no patterns: an operator's
 * file cannot make the gateway compute.
 */
export interface Condition {
  readonly at: string
  /** A pointer into the JSON that the text at `at` holds. */
  readonly inJson?: string
  readonly exists?: boolean
  readonly equals?: Json | { readonly $argument: string }
  readonly contains?: string | { readonly $argument: string }
}
