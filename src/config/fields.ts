import { z } from 'zod'
import { parseDuration, parseSize } from './quantity.ts'

// A field that is filled from the environment is text when it gets here, whatever it stands for.
const fromVariable = { type: 'string', pattern: '\\$\\{' } as const

/** A field that is read by a function of ours: undefined from `read` means that the value is not of that form. */
function field<Value>(read: (input: unknown) => Value | undefined, expected: string, schema: Record<string, unknown>) {
  return z
    .unknown()
    .transform((input, context): Value => {
      const value = read(input)
      if (value !== undefined) return value
      context.issues.push({ code: 'custom', message: `expected ${expected}`, input })
      return z.NEVER
    })
    .meta(schema)
}

const durationForm = '^\\d+(\\.\\d+)? ?(ms|s|m|h|d)$|\\$\\{'

/** Text such as `25s`; becomes milliseconds. Never a bare number, whose unit nobody sees. */
export function duration(says: string) {
  return field(
    (input) => (typeof input === 'string' ? parseDuration(input) : undefined),
    'a duration such as 500ms, 25s, 10m or 1h',
    {
      type: 'string',
      pattern: durationForm,
      description: says,
    },
  )
}

/** For keys that end in `Ms`: a whole number of milliseconds, or a duration. */
export function milliseconds(says: string) {
  return field(
    (input) => (typeof input === 'string' ? (parseDuration(input) ?? wholeNumber(input)) : wholeNumber(input)),
    'a whole number of milliseconds, or a duration such as 25s',
    {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', pattern: durationForm },
      ],
      description: says,
    },
  )
}

/** `256KiB`, `100MB`, or a whole number of bytes. */
export function size(says: string) {
  return field(
    (input) => (typeof input === 'string' ? (parseSize(input) ?? wholeNumber(input)) : wholeNumber(input)),
    'a size such as 64KiB, 10MB or a whole number of bytes',
    {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', pattern: '^\\d+(\\.\\d+)? ?(B|kB|KB|KiB|MB|MiB|GB|GiB)$|\\$\\{' },
      ],
      description: says,
    },
  )
}

/** ISO 8601 with a zone; becomes milliseconds since 1970. */
export function moment(says: string) {
  return field(
    (input) => {
      const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/
      const at = typeof input === 'string' && form.test(input) ? Date.parse(input) : NaN
      return Number.isNaN(at) ? undefined : at
    },
    'a date and a time with a zone, such as 2027-01-31T00:00:00Z',
    { anyOf: [{ type: 'string', format: 'date-time' }, fromVariable], description: says },
  )
}

export function count(says: string, least: number, most: number) {
  return field(
    (input) => {
      const value = wholeNumber(input)
      return value !== undefined && value >= least && value <= most ? value : undefined
    },
    `a whole number from ${least} to ${most}`,
    { anyOf: [{ type: 'integer', minimum: least, maximum: most }, fromVariable], description: says },
  )
}

function wholeNumber(input: unknown): number | undefined {
  const value = typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** JSON pointer (RFC 6901). */
export function pointer(says: string) {
  return z
    .string()
    .regex(/^(\/([^~/]|~0|~1)*)*$/, 'expected a JSON pointer such as /path or /items/0/id')
    .describe(says)
}

/** A name that people type and that other names are made of. */
export function name(says: string) {
  return z
    .string()
    .regex(
      /^[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_))*$/,
      'expected letters, digits, `.`, `-` and single `_`, starting with a letter or digit',
    )
    .max(64, 'expected at most 64 characters')
    .describe(says)
}

export function text(says: string, most = 4096) {
  return z
    .string()
    .min(1, 'expected text that is not empty')
    .max(most, `expected at most ${most} characters`)
    .refine((value) => !/[\u0000]/.test(value), 'expected text without NUL')
    .describe(says)
}
