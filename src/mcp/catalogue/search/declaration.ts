import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../../words/json.ts'

export interface Declared {
  /** The name by which it is called. */
  readonly name: string
  readonly description: string
  readonly inputSchema: Json | undefined
}

/** How much of a schema is written out; what is left is had by asking for the whole schema. */
const LIMITS = { depth: 2, members: 12, choices: 8, sentence: 120, choice: 24 } as const

/**
 * A tool as one TypeScript declaration, with the first sentence of its description: what a model needs to tell it from
 * others, and mostly all that it needs to call it. `…` stands where something was left out.
 */
export function declarationOf({ name, description, inputSchema }: Declared): string {
  const sentence = firstSentence(description)
  const comment = sentence === '' ? '' : `/** ${sentence.replaceAll('*/', '* /')} */\n`
  return `${comment}${/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(name)}(${argumentsOf(inputSchema)})`
}

function argumentsOf(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return ''
  const text = objectOf(schema, schema, 0)
  return text === '{}' ? '' : text
}

export function firstSentence(description: string): string {
  const line = description.trim().replace(/\s+/g, ' ')
  const end = /[.!?](?=\s|$)|。/.exec(line)
  const sentence = end === null ? line : line.slice(0, end.index)
  if (sentence.length <= LIMITS.sentence) return sentence
  const cut = sentence.slice(0, LIMITS.sentence)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LIMITS.sentence / 2)).toWellFormed()}…`
}

function objectOf(schema: JsonObject, root: JsonObject, depth: number): string {
  const properties = member(schema, 'properties')
  if (!isJsonObject(properties)) return depth === 0 ? '{}' : 'object'
  const required = member(schema, 'required')
  const needed = new Set(Array.isArray(required) ? (required as readonly Json[]) : [])
  // What has to be given comes first, so that a cut takes what can be left out.
  const names = Object.keys(properties)
  const ordered = [...names.filter((name) => needed.has(name)), ...names.filter((name) => !needed.has(name))]
  const shown = ordered.slice(0, LIMITS.members)
  const parts = shown.map((name) => {
    const key = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(name)
    return `${key}${needed.has(name) ? '' : '?'}: ${typeOf(properties[name], root, depth + 1)}`
  })
  if (shown.length < ordered.length) parts.push('…')
  return parts.length === 0 ? '{}' : `{${parts.join('; ')}}`
}

function typeOf(schema: Json | undefined, root: JsonObject, depth: number): string {
  if (!isJsonObject(schema)) return 'any'
  const target = referred(schema, root)
  if (target === undefined || depth > LIMITS.depth + 2) return 'any'
  const choices = member(target, 'enum')
  if (Array.isArray(choices)) return choicesOf(choices as readonly Json[])
  if (Object.hasOwn(target, 'const')) return choicesOf([member(target, 'const') ?? null])
  for (const union of ['anyOf', 'oneOf']) {
    const branches = member(target, union)
    if (Array.isArray(branches))
      return unionOf((branches as readonly Json[]).map((branch) => typeOf(branch, root, depth + 1)))
  }
  const type = member(target, 'type')
  if (Array.isArray(type)) return unionOf((type as readonly Json[]).map((one) => named(one, target, root, depth)))
  return named(type ?? (member(target, 'properties') === undefined ? undefined : 'object'), target, root, depth)
}

function named(type: Json | undefined, schema: JsonObject, root: JsonObject, depth: number): string {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
      return 'number'
    case 'array': {
      const of = typeOf(member(schema, 'items'), root, depth)
      return /^[\w.]+$|^\{.*\}$/s.test(of) ? `${of}[]` : `(${of})[]`
    }
    case 'object':
      return depth > LIMITS.depth ? 'object' : objectOf(schema, root, depth)
    default:
      return 'any'
  }
}

function unionOf(types: readonly string[]): string {
  const all = [...new Set(types)]
  return all.includes('any') || all.length === 0 || all.length > LIMITS.choices ? 'any' : all.join(' | ')
}

function choicesOf(choices: readonly Json[]): string {
  const texts = choices.slice(0, LIMITS.choices).map((choice) => {
    const text = JSON.stringify(choice)
    return text.length > LIMITS.choice ? '…' : text
  })
  if (choices.length > LIMITS.choices) texts.push('…')
  return texts.length === 0 ? 'never' : [...new Set(texts)].join(' | ')
}

/** Local references only, a few steps far; nothing is fetched. */
function referred(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  let at: JsonObject = schema
  for (let steps = 0; steps < 4; steps++) {
    const reference = textMember(at, '$ref')
    if (reference === undefined) return at
    if (!reference.startsWith('#/')) return undefined
    let found: Json | undefined = root
    for (const part of reference.slice(2).split('/')) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      found = isJsonObject(found) ? member(found, key) : undefined
    }
    if (!isJsonObject(found)) return undefined
    at = found
  }
  return undefined
}
