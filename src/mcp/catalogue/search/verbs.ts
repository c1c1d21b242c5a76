import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../../words/json.ts'
import { MOST_MATCHES, type SearchAnswer, type Wish } from './tool-search.ts'

/** The three tools that stand for all others where a client or a model is not shown every one. */
export const verbs = {
  search: 'countersign__search_tools',
  describe: 'countersign__describe_tools',
  call: 'countersign__call_tool',
} as const
export type Verb = keyof typeof verbs

const text = (description: string): JsonObject => ({ type: 'string', description })

/** Constant to the byte: prompt caches live as long as what they hold does not change. */
export const verbDefinitions: readonly JsonObject[] = [
  {
    name: verbs.call,
    title: 'Call a tool',
    description:
      'Calls a tool that countersign__search_tools or countersign__describe_tools named. The call is judged as a call of that tool.',
    inputSchema: {
      type: 'object',
      properties: {
        name: text('The name as it was shown, e.g. github__create_issue'),
        arguments: { type: 'object', description: 'The arguments of that tool' },
      },
      required: ['name'],
      additionalProperties: false,
    },
  },
  {
    name: verbs.describe,
    title: 'Describe tools',
    description:
      'The whole definition of tools by their names. Needed only where a declaration leaves something open (…).',
    inputSchema: {
      type: 'object',
      properties: { names: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 10 } },
      required: ['names'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: verbs.search,
    title: 'Search for tools',
    description:
      'Finds the tools for one step, by what is to be done: "create an issue in a repository". Do not search for what needs no tool: ' +
      'conversation, general knowledge, writing, sums. Search again for each step of another kind.',
    inputSchema: {
      type: 'object',
      properties: {
        query: text('What is to be done, in a few words'),
        limit: { type: 'integer', minimum: 1, maximum: MOST_MATCHES, description: 'Default: 3' },
        server: text('Only tools of this server'),
      },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
]

export function verbOf(name: string | undefined): Verb | undefined {
  return (Object.keys(verbs) as Verb[]).find((verb) => verbs[verb] === name)
}

/** What a search tool was asked for; a text where that cannot be told. */
export function wishOf(given: Json | undefined): Wish | string {
  if (!isJsonObject(given)) return 'the arguments are not an object'
  const request = textMember(given, 'query')
  if (request === undefined || request.trim() === '') return '`query` is missing'
  const limit = member(given, 'limit')
  if (limit !== undefined && (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1)) {
    return '`limit` is not a whole number above 0'
  }
  return { request, limit, server: textMember(given, 'server') }
}

export function namesOf(given: Json | undefined): readonly string[] | string {
  const names = isJsonObject(given) ? member(given, 'names') : undefined
  if (!Array.isArray(names) || names.length === 0 || names.length > 10) return '`names` is a list of 1 to 10 names'
  const texts = (names as readonly Json[]).filter((name) => typeof name === 'string')
  return texts.length === names.length ? texts : '`names` holds something else than texts'
}

/** The tool that is really meant, and its arguments; a text where that cannot be told. */
export function meantBy(given: Json | undefined): { readonly name: string; readonly given: Json } | string {
  if (!isJsonObject(given)) return 'the arguments are not an object'
  const name = textMember(given, 'name')
  if (name === undefined) return '`name` is missing'
  // One of ours stands for a tool and is none: a call of a call would be judged as neither.
  if (verbOf(name) !== undefined) return `${name} is called by itself`
  return { name, given: member(given, 'arguments') ?? {} }
}

/** The answer of a search as a model reads it, and the tools in it by the names under which they are called. */
export function soughtOf(answer: SearchAnswer): { readonly text: string; readonly tools: readonly string[] } {
  return { text: answerText(answer), tools: answer.matches.map(({ exportedName }) => exportedName) }
}

/** The answer of a search as a model reads it. */
export function answerText({ matches, why, left }: SearchAnswer): string {
  if (matches.length === 0) {
    return `No tool fits: ${why ?? 'nothing matches'}. Go on without a tool, or search in other words.`
  }
  const more = left > 0 ? [`(${left} more fit, and were left out for their size)`] : []
  return [...matches.map(({ text: shown }) => shown), ...more].join('\n')
}
