import { isJsonObject, member, textMember, type Json, type JsonObject } from '../../words/json.ts'

const MOST_FIELDS = 64
// Names and titles of what must never be typed into a form (2025-11-25 and 2026-07-28, "Elicitation", form mode: sensitive
// information goes by URL mode). Words are looked for after camel case and joining signs are taken apart.
const SENSITIVE =
  /\b(pass ?(?:word|phrase|code)|passwd|pwd|secrets?|(?:api|access|private|secret|signing|encryption) ?keys?|(?:access|auth|bearer|refresh|session|id|api|personal access) ?tokens?|tokens?|credentials?|pin(?: ?code)?|otp|one time (?:password|code)|mfa code|2fa code|cvv|cvc|(?:credit|debit)? ?card ?number|iban|ssn|social security(?: number)?|seed phrase|recovery (?:code|phrase))\b/

/** Why a form may not be put to anybody; undefined where it may: flat, and of plain fields. */
export function formFault(params: JsonObject): string | undefined {
  if (textMember(params, 'message') === undefined) return 'it has no message'
  const schema = member(params, 'requestedSchema')
  if (!isJsonObject(schema) || member(schema, 'type') !== 'object') return 'requestedSchema is not of the type object'
  const properties = member(schema, 'properties')
  if (!isJsonObject(properties)) return 'requestedSchema has no properties'
  const fields = Object.entries(properties)
  if (fields.length > MOST_FIELDS) return `it has more than ${MOST_FIELDS} fields`
  for (const [name, field] of fields) {
    if (!isJsonObject(field)) return `the field ${name} is no schema`
    if (kindOf(field) === undefined) return `the field ${name} is neither text, number, yes or no, nor a choice`
  }
  return undefined
}

/** The field of a form that asks for what must not be typed into one. */
export function secretField(params: JsonObject): string | undefined {
  const properties = member(member(params, 'requestedSchema') as JsonObject, 'properties') as JsonObject
  return Object.keys(properties).find((name) => {
    const field = properties[name] as JsonObject
    const kind = kindOf(field)
    if (kind !== 'text' && kind !== 'number') return false
    const words = [name, textMember(field, 'title') ?? '', textMember(field, 'format') ?? '']
    return words.some((text) => SENSITIVE.test(plain(text)))
  })
}

/** Why an answer is none: not one of the three actions, or not what the form asked for. Numbers may have a fraction. */
export function elicitationFault(params: JsonObject, answer: JsonObject): string | undefined {
  const action = member(answer, 'action')
  if (action === 'decline' || action === 'cancel') return undefined
  if (action !== 'accept') return 'its action is not accept, decline or cancel'
  if (member(params, 'mode') === 'url') return undefined
  const schema = member(params, 'requestedSchema') as JsonObject
  const properties = member(schema, 'properties') as JsonObject
  const content = member(answer, 'content')
  if (!isJsonObject(content)) return 'it accepts without content'
  const required = member(schema, 'required')
  for (const name of Array.isArray(required) ? (required as readonly Json[]) : [])
    if (typeof name === 'string' && member(content, name) === undefined) return `${name} is missing`
  for (const [name, value] of Object.entries(content)) {
    const field = member(properties, name)
    if (!isJsonObject(field)) {
      if (!isPlain(value)) return `${name} is not a plain value`
      continue
    }
    const fault = valueFault(field, value)
    if (fault !== undefined) return `${name} ${fault}`
  }
  return undefined
}

type FieldKind = 'text' | 'number' | 'flag' | 'choice' | 'choices'

function kindOf(field: JsonObject): FieldKind | undefined {
  if (choicesOf(field) !== undefined) return 'choice'
  switch (member(field, 'type')) {
    case 'string':
      return 'text'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'flag'
    case 'array': {
      const items = member(field, 'items')
      return isJsonObject(items) && choicesOf(items) !== undefined ? 'choices' : undefined
    }
    default:
      return undefined
  }
}

/** The values of a choice in each of its written forms (SEP-1330): `enum`, and `oneOf` or `anyOf` of `const`. */
function choicesOf(field: JsonObject): readonly Json[] | undefined {
  const plainly = member(field, 'enum')
  if (Array.isArray(plainly)) return plainly as readonly Json[]
  const titled = member(field, 'oneOf') ?? member(field, 'anyOf')
  if (!Array.isArray(titled)) return undefined
  const values = (titled as readonly Json[]).map((one) => (isJsonObject(one) ? member(one, 'const') : undefined))
  return values.every((value) => value !== undefined) ? values : undefined
}

function valueFault(field: JsonObject, value: Json): string | undefined {
  switch (kindOf(field)) {
    case 'choice':
      return choicesOf(field)!.includes(value) ? undefined : 'is not one of the choices'
    case 'choices': {
      const known = choicesOf(member(field, 'items') as JsonObject)!
      const all = Array.isArray(value) && (value as readonly Json[]).every((one) => known.includes(one))
      return all ? undefined : 'is not a list of the choices'
    }
    case 'text':
      return typeof value === 'string' ? undefined : 'is not text'
    case 'number':
      if (typeof value !== 'number') return 'is not a number'
      return member(field, 'type') === 'integer' && !Number.isInteger(value) ? 'is not a whole number' : undefined
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'is not true or false'
    default:
      return 'was not asked for in a form that can be answered'
  }
}

function isPlain(value: Json): boolean {
  return (
    value !== null &&
    (typeof value !== 'object' || (Array.isArray(value) && value.every((one) => typeof one === 'string')))
  )
}

function plain(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()
}
