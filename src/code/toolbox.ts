import type { ToolAnswer, ToolCall, Toolbox, ToolOffer } from '../model/toolbox.ts'
import { type Json, isJsonObject, textMember } from '../words/json.ts'
import { parseStrict } from '../words/strict-json.ts'
import type { CodeLimits, Executor } from './executor.ts'
import type { Journals } from './journal.ts'
import { type ProgramEnd, runProgram } from './program.ts'
import { apiTree } from './tree.ts'

export const codeTools = { files: 'countersign__files', program: 'countersign__program' } as const

const LIMITS = { bytes: 1 << 20, depth: 64 } as const
/** Calls without an end that are named, one by one. */
const NAMED = 20

/** The two tools that stand for all: one to read what functions there are, one to run a program that calls them. */
export const codeOffers: readonly ToolOffer[] = Object.freeze([
  {
    exported: codeTools.files,
    title: 'Read the functions',
    description:
      'Lists and reads the functions that a program can call, as a tree of TypeScript files. Begin with the path "servers"; then "servers/NAME", and "servers/NAME/FUNCTION.ts" for what it takes.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'A folder or a file.' } },
      required: ['path'],
      additionalProperties: false,
    },
    server: 'countersign',
  },
  {
    exported: codeTools.program,
    title: 'Run a program',
    description:
      'Runs a TypeScript program: the body of an async function. `await servers.NAME.FUNCTION({ … })` calls a tool; `return` gives the answer, and console.log prints. Only what is returned or printed is seen. There is no network, no file, no timer and no import. Calls throw errors named Refused, Waiting, OutcomeUnknown or ToolError; one that is unknown must not be made again. Where calls wait for a person, run the same program again with `resume`: what was done is not done twice.',
    inputSchema: {
      type: 'object',
      properties: {
        program: { type: 'string', description: 'TypeScript.' },
        resume: { type: 'string', description: 'Name of an earlier run of the same program.' },
      },
      required: ['program'],
      additionalProperties: false,
    },
    server: 'countersign',
  },
])

/** Where programs run, and whose they are. */
export interface Place {
  readonly executor: Executor
  readonly limits: CodeLimits
  readonly journals: Journals
  readonly owner: string
}

/** A toolbox of two tools in place of all of another one. Every call of a program goes through that one. */
export function codeToolbox(toolbox: Toolbox, place: Place): Toolbox {
  return {
    offers: () => Promise.resolve(codeOffers),
    call: async (call, signal) => {
      if (call.exported !== codeTools.files && call.exported !== codeTools.program) return toolbox.call(call, signal)
      const parsed = parseStrict(call.argumentsText === '' ? '{}' : call.argumentsText, LIMITS)
      if (!parsed.ok) return said(`the arguments cannot be read: ${parsed.detail}`, true)
      const offers = await toolbox.offers(signal)
      if (call.exported === codeTools.files) return read(parsed.value, offers)
      return run(parsed.value, call, offers, { toolbox, place }, signal)
    },
  }
}

function read(given: Json, offers: readonly ToolOffer[]): ToolAnswer {
  const path = isJsonObject(given) ? textMember(given, 'path') : undefined
  if (path === undefined) return said('expected a `path`, such as "servers"', true)
  const text = apiTree(offers).read(path)
  return text === undefined ? said(`${path.slice(0, 200)}: there is no such folder or file`, true) : said(text)
}

interface Running {
  readonly toolbox: Toolbox
  readonly place: Place
}

async function run(
  given: Json,
  { conversation }: ToolCall,
  offers: readonly ToolOffer[],
  { toolbox, place }: Running,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const text = isJsonObject(given) ? textMember(given, 'program') : undefined
  if (text === undefined) return said('expected a `program`', true)
  const resume = isJsonObject(given) ? textMember(given, 'resume') : undefined
  const { executor, limits, journals, owner } = place
  const journal = journals.open(owner, text, resume)
  if ('why' in journal) return said(journal.why, true)
  try {
    const program = { text, journal, conversation }
    return reported(journal.run, await runProgram(program, offers, toolbox, executor, limits, signal), limits)
  } finally {
    journals.end(owner, journal)
  }
}

/** What a model is told: the state first, then what the program gave back. */
function reported(run: string, { end, waiting, unknown }: ProgramEnd, limits: CodeLimits): ToolAnswer {
  const lines: string[] = []
  switch (end.kind) {
    case 'returned':
      lines.push(`returned: ${end.value}`)
      break
    case 'threw':
      lines.push(`threw ${end.name}${end.line === undefined ? '' : ` in line ${end.line}`}: ${end.message}`)
      break
    case 'stopped':
      lines.push(`stopped: it passed its limit of ${end.limit} (${limitText(end.limit, limits)})`)
      break
    case 'cancelled':
      lines.push('cancelled')
      break
    case 'broken':
      lines.push(`the sandbox broke: ${end.why}`)
      break
    default:
      end satisfies never
  }
  if (end.printed !== '') lines.push(`printed:\n${end.printed}`)
  for (const { tool, approval } of waiting.slice(0, NAMED))
    lines.push(
      `${tool} waits for a person${approval === undefined ? '' : ` (${approval})`}: run the same program again with resume "${run}"`,
    )
  for (const { tool, operation } of unknown.slice(0, NAMED))
    lines.push(`${tool} was sent, and nobody knows what came of it (${operation}): do not call it again`)
  lines.push(`${end.calls} calls; run ${run}`)
  return said(lines.join('\n'), end.kind !== 'returned')
}

function limitText(limit: 'cpu' | 'wall' | 'memory' | 'output' | 'calls', limits: CodeLimits): string {
  switch (limit) {
    case 'cpu':
      return `${limits.cpuMs} ms`
    case 'wall':
      return `${limits.wallMs} ms`
    case 'memory':
      return `${limits.memoryBytes} bytes`
    case 'output':
      return `${limits.outputBytes} bytes`
    case 'calls':
      return String(limits.calls)
    default:
      return limit satisfies never
  }
}

function said(text: string, isError = false): ToolAnswer & { kind: 'result' } {
  return { kind: 'result', value: { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) }, isError }
}
