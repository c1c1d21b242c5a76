import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'

import { type Answer, given, refused } from './problem.ts'
import type { ReadRequest } from './read.ts'
import type { Limits } from './rules.ts'
import type { SearchRequest } from './search.ts'

const count = z.int().min(0)
const offset = count.describe('How many lines of the note come before the first one; 0 is its beginning.')
const lineBreak = /[\r\n\u0000]/

/** Arguments of search_notes. Its JSON Schema says the same as its checks; lengths are in code points, as JSON Schema counts them. */
export function searchArguments(limits: Limits) {
  const { query_characters: longest, max_results: most } = limits
  const results = (text: string) => ({ error: `${text}: ask for 1 to ${most}` })
  return z.strictObject({
    query: z
      .string()
      .refine((query) => query.trim() !== '', 'holds nothing to look for')
      .refine((query) => Array.from(query).length <= longest, `may have at most ${longest} characters`)
      .refine((query) => !lineBreak.test(query), 'must be one line, because matches lie within a line')
      .meta({
        minLength: 1,
        maxLength: longest,
        description: 'Literal text to look for within a line; letter case does not count.',
      }),
    max_results: z
      .int()
      .min(1, results('is too small'))
      .max(most, results(`is above the limit of ${most}`))
      .default(limits.default_results)
      .describe(`How many matching lines to give at most. More than ${most} is an error, not a silent cut.`),
  }) satisfies z.ZodType<SearchRequest>
}

/** Arguments of read_note. What a path may look like is judged by namesIn(), with its own codes. */
export function readArguments(limits: Limits) {
  const { max_lines: most } = limits
  const lines = (text: string) => ({ error: `${text}: ask for 1 to ${most} lines` })
  return z.strictObject({
    path: z.string().describe('Path of a note relative to the notes folder, exactly as search_notes gives it.'),
    offset: offset.default(0),
    limit: z
      .int()
      .min(1, lines('is too small'))
      .max(most, lines(`is above the limit of ${most}`))
      .default(limits.default_lines)
      .describe(`How many lines to give at most. More than ${most} is an error, not a silent cut.`),
  }) satisfies z.ZodType<ReadRequest>
}

export const searchResult = z.strictObject({
  query: z.string(),
  max_results: count.describe('As asked for.'),
  matches: z.array(
    z.strictObject({
      path: z.string().describe('Hand it to read_note as it is.'),
      offset: offset.describe('Offset of the matching line; hand it to read_note as it is.'),
      text: z
        .string()
        .optional()
        .describe('The whole line without its ending; left out when it is longer than a result may be.'),
    }),
  ),
  more: z.boolean().describe('Whether more matches may exist than are given.'),
  stopped_by: z
    .enum(['end', 'max_results', 'bytes', 'files', 'entries', 'time'])
    .describe('Why the list ends here; anything but "end" is a limit of learning://rules.'),
  files_searched: count,
  skipped: z
    .record(z.string(), count)
    .describe('How many files and folders were passed over, by error code of learning://rules.'),
})

export const readResult = z.strictObject({
  path: z.string(),
  offset: offset.describe('As asked for: how many lines of the note come before this page.'),
  limit: count.describe('As asked for: how many lines to give at most.'),
  text: z.string().describe('Whole lines with their own LF or CRLF.'),
  returned_lines: count,
  total_lines: count.describe('Lines of the whole note.'),
  stopped_by: z
    .enum(['end', 'limit', 'bytes'])
    .describe('"bytes": the next line would have made the result too large.'),
  more: z.boolean().describe('Whether lines follow this page.'),
  next_offset: count.optional().describe('Where the next page begins; left out when nothing follows.'),
})

/** Problems: `argument_invalid`, naming each argument that does not fit. */
export function argumentsBy<Arguments>(schema: z.ZodType<Arguments>, value: unknown): Answer<Arguments> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return given(parsed.data)
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  )
  return refused('argument_invalid', `${faults.join('; ').slice(0, 500)}.`)
}

/**
 * Lets the SDK publish the schema but not judge by it: its own answer to wrong arguments has no code.
 * The tool judges by argumentsBy() as its first step.
 */
export function published(schema: z.ZodType): StandardSchemaWithJSON {
  const { jsonSchema } = schema['~standard']
  return { '~standard': { version: 1, vendor: 'learning-notes', jsonSchema, validate: (value) => ({ value }) } }
}
