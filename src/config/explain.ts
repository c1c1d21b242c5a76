import { z } from 'zod'
import type { ConfigDocument, Path } from './document.ts'
import type { ConfigProblem } from './fault.ts'
import { nearest } from './nearest.ts'

const words: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  record: 'a map of names to values',
  object: 'a map of keys to values',
  array: 'a list',
}

/** What the schema found wrong, in words, each at its place in the file. */
export function explain(
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
  document: ConfigDocument,
): ConfigProblem[] {
  return issues.flatMap((issue) => explainOne(issue, schema, document))
}

function explainOne(issue: z.core.$ZodIssue, schema: z.ZodType, document: ConfigDocument): ConfigProblem[] {
  const path = issue.path as Path
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = keysAt(schema, path)
      return issue.keys.map((key) => {
        const meant = nearest(key, known)
        const hint = meant === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean \`${meant}\`?`
        return document.problem([...path, key], `unknown key \`${key}\``, hint, 'key')
      })
    }
    case 'invalid_key': {
      const why = issue.issues[0]?.message ?? 'not a name that can stand here'
      return [document.problem(path, why, undefined, 'key')]
    }
    case 'invalid_type': {
      const expected = words[issue.expected] ?? issue.expected
      const found = valueAt(document.value, path)
      if (found === undefined)
        return [document.problem(path, `\`${String(path.at(-1) ?? 'it')}\` is missing; expected ${expected}`)]
      const unquoted = issue.expected === 'string' && (typeof found === 'number' || typeof found === 'boolean')
      const hint = unquoted ? 'Put it in quotes.' : undefined
      return [document.problem(path, `expected ${expected}, found ${kindOf(found)}`, hint)]
    }
    case 'invalid_value': {
      const known = issue.values.map(String)
      const found = valueAt(document.value, path)
      if (found === undefined)
        return [document.problem(path, `\`${String(path.at(-1))}\` is missing; expected ${oneOf(known)}`)]
      const meant = typeof found === 'string' ? nearest(found, known) : undefined
      return [
        document.problem(
          path,
          `expected ${oneOf(known)}`,
          meant === undefined ? undefined : `Did you mean \`${meant}\`?`,
        ),
      ]
    }
    case 'invalid_union':
      return [document.problem(path, 'expected another kind of value here', 'See docs/configuration.md.')]
    default: {
      const missing = issue.code === 'custom' && path.length > 0 && valueAt(document.value, path) === undefined
      const message =
        missing && issue.message.startsWith('expected')
          ? `\`${String(path.at(-1))}\` is missing; ${issue.message}`
          : issue.message
      return [document.problem(path, lowerFirst(message))]
    }
  }
}

function oneOf(known: readonly string[]): string {
  return known.length === 1 ? `\`${known[0]}\`` : `one of ${known.join(', ')}`
}

function lowerFirst(message: string): string {
  return message.replace(/^(Too|Invalid)/, (word) => word.toLowerCase())
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? 'text' : typeof value === 'number' ? 'a number' : 'true or false'
}

function valueAt(value: unknown, path: Path): unknown {
  let at: unknown = value
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined
    at = (at as Readonly<Record<string | number, unknown>>)[part]
  }
  return at
}

/** The keys that the schema knows at that path. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let at: z.core.$ZodType = schema
  for (const part of path) {
    at = unwrap(at)
    if (at instanceof z.ZodObject) at = (at.shape as Readonly<Record<string, z.core.$ZodType>>)[String(part)] ?? at
    else if (at instanceof z.ZodRecord) at = at.valueType
    else if (at instanceof z.ZodArray) at = at.element
  }
  at = unwrap(at)
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let at = schema
  for (;;) {
    if (
      at instanceof z.ZodOptional ||
      at instanceof z.ZodExactOptional ||
      at instanceof z.ZodDefault ||
      at instanceof z.ZodPrefault
    )
      at = at.unwrap()
    else return at
  }
}
