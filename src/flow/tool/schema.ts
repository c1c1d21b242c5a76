import { Ajv, type ErrorObject, type Options, type ValidateFunction, _ } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { CanonicalFault, canonical } from '../../words/canonical.ts'
import type { Json } from '../../words/json.ts'
import { type Admitted, STEP, admit } from './schema-admission.ts'
import { formats } from './schema-format.ts'
import { schemaLimits } from './schema-limits.ts'
import { linearPattern } from './schema-pattern.ts'
import type { SchemaCheck } from './selected.ts'
import { visible } from './visible.ts'

/** Lines, and characters of one name within them, that a caller is told. */
const LINES = 10
const NAME_LENGTH = 80

/** What is left for the check that runs now. Checks are synchronous and do not nest, so one counter does for all. */
const steps = { left: 0 }
class StepsSpent extends Error {}
const spent = new StepsSpent('the check takes too much work')

const VALID: readonly string[] = Object.freeze([])

/**
 * Compiles a schema that somebody else wrote into a check with bounded work, or says why not. Takes milliseconds: it is
 * done when a definition is approved or first seen, never for each call.
 */
export function compileCheck(
  schema: Json,
  use: 'arguments' | 'result',
): { readonly check: SchemaCheck } | { readonly refused: string } {
  const admitted = admit(schema, use)
  return 'refused' in admitted ? admitted : compileAdmitted(admitted)
}

export function compileAdmitted(admitted: Admitted): { readonly check: SchemaCheck } | { readonly refused: string } {
  const shared = metaschemas[admitted.dialect]
  try {
    if (shared().validateSchema(admitted.schema) !== true) {
      return { refused: `the schema is not valid: ${lines(shared().errors, '').slice(0, 3).join('; ')}` }
    }
    const validate = instance(admitted, false).compile(admitted.schema)
    let thorough: ValidateFunction | undefined
    return {
      check: (value) => {
        const first = run(validate, value, schemaLimits.steps)
        if (first === VALID || first === TOO_MUCH || first === NOT_JUDGED) return first
        // Only a caller that was wrong needs the full list, so most tools never pay for this one.
        thorough ??= patient(admitted)
        const all = thorough === undefined ? first : run(thorough, value, schemaLimits.stepsForErrors)
        return all === VALID || all === TOO_MUCH || all === NOT_JUDGED ? first : all
      },
    }
  } catch (fault) {
    // Whatever the validator cannot digest: a pattern that is not linear, a stack that it fills while it compiles.
    const why = fault instanceof Error ? fault.message : String(fault)
    return { refused: `the schema cannot be compiled: ${visible(why.slice(0, 200).toWellFormed())}` }
  }
}

/** Collects every error. Its code is longer than that of the first, so that it may fail where the first did not. */
function patient(admitted: Admitted): ValidateFunction | undefined {
  try {
    return instance(admitted, true).compile(admitted.schema)
  } catch {
    return undefined
  }
}

const NOT_JUDGED: readonly string[] = Object.freeze(['(whole value): the validator failed on it'])
const TOO_MUCH: readonly string[] = Object.freeze(['(whole value): it takes too much work to check against the schema'])

function run(validate: ValidateFunction, value: unknown, budget: number): readonly string[] {
  steps.left = budget
  try {
    return validate(value) ? VALID : lines(validate.errors, '(whole value)')
  } catch (fault) {
    // Also for what is not expected here: a value that could not be judged is not valid.
    return fault === spent || fault instanceof CanonicalFault || fault instanceof RangeError ? TOO_MUCH : NOT_JUDGED
  }
}

function lines(errors: readonly ErrorObject[] | null | undefined, root: string): string[] {
  const all = new Set<string>()
  for (const error of errors ?? []) {
    all.add(`${name(error.instancePath) || root}: ${said(error)}`)
    if (all.size === LINES) break
  }
  return [...all]
}

function said(error: ErrorObject): string {
  const message = error.message ?? `must fit ${error.keyword}`
  const { additionalProperty, unevaluatedProperty, propertyName, allowedValues, allowedValue } = error.params as {
    [key: string]: unknown
  }
  const which = additionalProperty ?? unevaluatedProperty ?? propertyName
  if (typeof which === 'string') return name(`${message}: ${which}`, NAME_LENGTH + message.length)
  const allowed = allowedValues ?? (allowedValue === undefined ? undefined : [allowedValue])
  if (Array.isArray(allowed)) return name(`${message}: ${JSON.stringify(allowed)}`, 3 * NAME_LENGTH)
  return name(message, 3 * NAME_LENGTH)
}

// The names come from the caller or the server, and the lines go to people and models.
function name(text: string, length = NAME_LENGTH): string {
  const seen = visible(text.length > length ? text.slice(0, length).toWellFormed() : text.toWellFormed())
  return text.length > length ? `${seen}…` : seen
}

function spend(count: number): void {
  if ((steps.left -= count) < 0) throw spent
}

function instance({ dialect, unevaluated }: Admitted, allErrors: boolean): Ajv {
  const regExp = (source: string, flags: string) =>
    linearPattern(source, flags, (characters) => spend(1 + (characters >> 2)))
  // Only read where code is generated as text for a module, which is not done here.
  regExp.code = 'linearPattern'
  const options: Options = {
    strict: false,
    logger: false,
    allErrors,
    // The one shared instance has checked the schema against its metaschema already.
    meta: false,
    validateSchema: false,
    // `required: ["constructor"]` is not met by what every object inherits.
    ownProperties: true,
    // Otherwise each reference would repeat its target in the generated code.
    inlineRefs: false,
    addUsedSchema: false,
    formats: { ...formats },
    code: { regExp, optimize: false },
  }
  // A new instance for each schema: they must not see each other's definitions and patterns.
  const ajv: Ajv = dialect === '2020-12' ? (new Ajv2020(options) as unknown as Ajv) : new Ajv(options)
  // Keeping account of what was evaluated costs time, and with nested oneOf the generated code is wrong (ajv 8.20).
  if (!unevaluated) ajv.opts.unevaluated = false
  ajv.addKeyword({
    keyword: STEP,
    code: ({ gen }) => {
      const counter = gen.scopeValue('obj', { ref: steps })
      const fault = gen.scopeValue('obj', { ref: spent })
      gen.if(_`--${counter}.left < 0`, () => gen.throw(_`${fault}`))
    },
  })
  // The validator's own compares every item with every other one.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (wanted: boolean, items: readonly Json[]) => {
      if (!wanted) return true
      spend(items.length)
      return new Set(items.map((item) => canonical(item, 256))).size === items.length
    },
    error: { message: 'must not have the same item twice' },
  })
  return ajv
}

function once(make: () => Ajv): () => Ajv {
  let made: Ajv | undefined
  return () => (made ??= make())
}

const metaschemas = {
  '2020-12': once(() => new Ajv2020({ strict: false, logger: false }) as unknown as Ajv),
  'draft-07': once(() => new Ajv({ strict: false, logger: false })),
}
