import type { Json, JsonObject } from '../../words/json.ts'
import type { Step } from '../line.ts'
import type { EvidenceRecord, Happening } from './record.ts'

/**
 * What the gates say of a read is the same for every call of one principal on one tool under one policy and rule, but for a
 * few facts. The same is put on record once, as `read.stated`; each read then refers to that record by its number (`as`),
 * and says only what is its own.
 */

/** A read without what it went through. */
export type Read = Omit<Happening, 'path' | 'steps'>
/** What a read went through. */
export type Course = Required<Pick<Happening, 'path' | 'steps'>>

/** Facts that are a call's own, by step. Everything else of a step is part of what is stated once. */
const own: { readonly [step: string]: readonly string[] } = {
  proposal: ['bytes'],
  resource: ['scopes', 'scopesDigest'],
  budget: ['hold', 'wallMs'],
  'side-effect': ['operation'],
  receipt: ['bytes'],
  result: ['bytes'],
}
const nothing: readonly string[] = []
const none: readonly Stated[] = []
/** So many statements are remembered, and so many of one principal on one tool; others are stated anew. */
const REMEMBERED = 4096
const ALIKE = 8

interface Stated {
  readonly seq: number
  readonly tenant: string | undefined
  readonly course: Course
}

/**
 * The statements of a chain that is being written. They are found by comparing values, most of which are the very same
 * strings: to make a text of them as a key would cost more than the record saves.
 */
export class Statements {
  readonly #byTool = new Map<string, Map<string, Stated[]>>()
  #count = 0

  seqOf({ tenant, principal = '', tool = '' }: Read, course: Course): number | undefined {
    for (const stated of this.#byTool.get(tool)?.get(principal) ?? none)
      if (stated.tenant === tenant && sameCourse(stated.course, course)) return stated.seq
    return undefined
  }

  note({ tenant, principal = '', tool = '' }: Read, course: Course, seq: number): void {
    if (this.#count++ >= REMEMBERED) this.forgetFrom(0)
    const byPrincipal = this.#byTool.get(tool) ?? new Map<string, Stated[]>()
    this.#byTool.set(tool, byPrincipal)
    const before = byPrincipal.get(principal) ?? []
    byPrincipal.set(principal, [{ seq, tenant, course }, ...before.slice(0, ALIKE - 1)])
  }

  /** Forgets those whose records were undone. */
  forgetFrom(size: number): void {
    if (size === 0) {
      this.#byTool.clear()
      this.#count = 0
      return
    }
    for (const byPrincipal of this.#byTool.values())
      for (const [principal, all] of byPrincipal)
        if (all.some(({ seq }) => seq >= size))
          byPrincipal.set(
            principal,
            all.filter(({ seq }) => seq < size),
          )
  }
}

/** Do they differ in nothing but what is a call's own? */
function sameCourse(one: Course, other: Course): boolean {
  if (one.steps.length !== other.steps.length || !sameJson(one.path, other.path)) return false
  for (let n = 0; n < one.steps.length; n++) {
    const a = one.steps[n]!
    const b = other.steps[n]!
    if (a.step !== b.step || a.verdict !== b.verdict || a.code !== b.code) return false
    const varying = own[a.step] ?? nothing
    let names = 0
    for (const name in b.facts) {
      if (varying.includes(name)) continue
      names++
      if (!sameJson(a.facts[name], b.facts[name])) return false
    }
    for (const name in a.facts) if (!varying.includes(name)) names--
    if (names !== 0) return false
  }
  return true
}

function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object') return false
  return JSON.stringify(one) === JSON.stringify(other)
}

export function statementOf({ at, tenant, principal, tool }: Read, { path, steps }: Course): Happening {
  return {
    kind: 'read.stated',
    at,
    ...(tenant === undefined ? {} : { tenant }),
    ...(principal === undefined ? {} : { principal }),
    ...(tool === undefined ? {} : { tool }),
    path,
    steps: steps.map((step) => ({ ...step, facts: split(step.step, step.facts, false), micros: 0 })),
  }
}

/** The read as it refers to its statement. */
export function referring(read: Read, { steps }: Course, as: number): Happening {
  const said: { [step: string]: JsonObject } = {}
  const micros: number[] = []
  for (const { step, facts, micros: took } of steps) {
    micros.push(took)
    // Its number is that of the record.
    if (step === 'side-effect' || own[step] === undefined) continue
    const its = split(step, facts, true)
    if (Object.keys(its).length > 0) said[step] = its
  }
  return { ...read, as, said, micros }
}

function split(step: string, facts: Step['facts'], varying: boolean): JsonObject {
  const names = own[step] ?? nothing
  const kept: { [name: string]: Json } = {}
  for (const name in facts) if (names.includes(name) === varying) kept[name] = facts[name]!
  return kept
}

/** A read with all that it refers to, as if every word of it stood in its own record. */
export function unfolded(
  record: EvidenceRecord,
  statement: (seq: number) => EvidenceRecord | undefined,
): EvidenceRecord {
  const { as, said = {}, micros = [], ...rest } = record
  const stated = as === undefined ? undefined : statement(as)
  if (stated === undefined) return record
  const { path, steps = [] } = stated
  return {
    ...rest,
    ...(path === undefined ? {} : { path }),
    steps: steps.map((step, n) => ({
      ...step,
      facts: {
        ...(step.step === 'side-effect' ? { operation: record.operation ?? '' } : {}),
        ...step.facts,
        ...(said[step.step] as JsonObject | undefined),
      },
      micros: micros[n] ?? 0,
    })),
  }
}
