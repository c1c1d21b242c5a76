import type { Json } from './json.ts'
import type { RefusalCode } from './refusals.ts'

/** What a gate states about its decision: small, readable, free of secrets; it goes on the record. */
export type Facts = { readonly [name: string]: Json }

export interface Pass<Next> {
  readonly kind: 'pass'
  readonly next: Next
  /** What this step bound, for the record. */
  readonly facts: Facts
}
export interface Refusal {
  readonly kind: 'refuse'
  readonly code: RefusalCode
  readonly facts: Facts
}
export interface Ask<Question> {
  readonly kind: 'ask'
  readonly question: Question
  readonly facts: Facts
}

/** A gate's answer. A refusal is a value; something broken is an exception. */
export type Verdict<Next, Question = never> =
  | Pass<Next>
  | Refusal
  | ([Question] extends [never] ? never : Ask<Question>)

const NONE: Facts = Object.freeze({})

export function pass<Next>(next: Next, facts: Facts = NONE): Pass<Next> {
  return { kind: 'pass', next, facts }
}

export function refuse(code: RefusalCode, facts: Facts = NONE): Refusal {
  return { kind: 'refuse', code, facts }
}

export function ask<Question>(question: Question, facts: Facts = NONE): Ask<Question> {
  return { kind: 'ask', question, facts }
}
