import { type Admitted, admit } from '../../flow/tool/schema-admission.ts'
import { compileAdmitted } from '../../flow/tool/schema.ts'
import type { SchemaCheck } from '../../flow/tool/selected.ts'
import { visible } from '../../flow/tool/visible.ts'
import type { Digest } from '../../words/digest.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'

export interface ToolChecks {
  readonly checkArguments: SchemaCheck
  readonly checkResult?: SchemaCheck
}

/** Pins whose checks are kept: what was compiled once is there again when a definition comes back. */
const KEPT = 20_000
const NAME_LENGTH = 80

/**
 * The checks of approved tools, compiled once for each pin. Compiling takes milliseconds, so it happens between other
 * work, or at the first call if that comes earlier; `onRefused` is told of a schema that turns out not to compile.
 */
export class Checks {
  readonly #known = new Map<Digest, { readonly checks: ToolChecks; readonly lazy: readonly Lazy[] }>()
  readonly #refused = new Map<Digest, string>()
  readonly #waiting: Lazy[] = []
  readonly #onRefused: () => void
  #working: NodeJS.Immediate | undefined

  constructor(onRefused: () => void) {
    this.#onRefused = onRefused
  }

  /** Why the schemas of this pin cannot be used, as far as is known yet. */
  refused(pin: Digest): string | undefined {
    return this.#refused.get(pin)
  }

  ofTool(pin: Digest, definition: JsonObject): ToolChecks {
    const known = this.#known.get(pin)
    if (known !== undefined) return known.checks
    const output = member(definition, 'outputSchema')
    const refuse = (why: string): void => this.#refuse(pin, why)
    const input = new Lazy(member(definition, 'inputSchema') ?? false, 'arguments', refuse)
    const result = output === undefined ? undefined : new Lazy(output, 'result', refuse)
    const checks = { checkArguments: input.check, ...(result && { checkResult: result.check }) }
    const lazy = result === undefined ? [input] : [input, result]
    if (this.#known.size >= KEPT) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(pin, { checks, lazy })
    this.#waiting.push(...lazy)
    this.#work()
    return checks
  }

  /** Compiles at once; answers why that is not possible. */
  compileNow(pin: Digest, definition: JsonObject): string | undefined {
    this.ofTool(pin, definition)
    for (const lazy of this.#known.get(pin)!.lazy) lazy.compile()
    return this.#refused.get(pin)
  }

  close(): void {
    clearImmediate(this.#working)
    this.#waiting.length = 0
  }

  // One schema in each turn of the event loop: calls that are under way do not wait for a whole list.
  #work(): void {
    if (this.#working !== undefined || this.#waiting.length === 0) return
    this.#working = setImmediate(() => {
      this.#working = undefined
      this.#waiting.shift()?.compile()
      this.#work()
    }).unref()
  }

  #refuse(pin: Digest, why: string): void {
    if (this.#refused.size >= KEPT) this.#refused.delete(this.#refused.keys().next().value!)
    this.#refused.set(pin, why)
    this.#onRefused()
  }
}

class Lazy {
  readonly check: SchemaCheck
  readonly #schema: Json
  readonly #use: 'arguments' | 'result'
  readonly #refuse: (why: string) => void
  #compiled: SchemaCheck | undefined

  constructor(schema: Json, use: 'arguments' | 'result', refuse: (why: string) => void) {
    this.#schema = schema
    this.#use = use
    this.#refuse = refuse
    this.check = (value) => (this.#compiled ?? this.compile())(value)
  }

  compile(): SchemaCheck {
    if (this.#compiled !== undefined) return this.#compiled
    const admitted = admit(this.#schema, this.#use)
    const made = 'refused' in admitted ? admitted : compileAdmitted(admitted satisfies Admitted)
    if ('check' in made) return (this.#compiled = made.check)
    const why = `its ${this.#use === 'arguments' ? 'input' : 'output'} schema: ${made.refused}`
    // Nothing fits a schema that cannot be checked.
    this.#compiled = () => [`(whole value): ${why}`]
    this.#refuse(why)
    return this.#compiled
  }
}

/** Arguments of a prompt are texts, by the names that the approved definition has; those it requires must be there. */
export function promptCheck(definition: JsonObject): SchemaCheck {
  const declared = member(definition, 'arguments')
  const names = new Map<string, boolean>()
  if (Array.isArray(declared)) {
    for (const argument of declared as readonly Json[]) {
      if (isJsonObject(argument)) names.set(textMember(argument, 'name') ?? '', member(argument, 'required') === true)
    }
  }
  return (value) => {
    const given = isJsonObject(value as Json) ? (value as JsonObject) : {}
    const lines: string[] = []
    for (const [key, text] of Object.entries(given)) {
      if (!names.has(key)) lines.push(`/${shown(key)}: the prompt has no such argument`)
      else if (typeof text !== 'string') lines.push(`/${shown(key)}: must be string`)
    }
    for (const [key, required] of names)
      if (required && !Object.hasOwn(given, key)) lines.push(`/${shown(key)}: is required`)
    return lines.slice(0, 10)
  }
}

function shown(key: string): string {
  return visible(key.slice(0, NAME_LENGTH).toWellFormed())
}

/** A resource is read by its URI. */
export const resourceCheck: SchemaCheck = (value) =>
  isJsonObject(value as Json) && typeof member(value as JsonObject, 'uri') === 'string' ? [] : ['/uri: must be string']
