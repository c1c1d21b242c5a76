import { exits, type Exit } from './exits.ts'
import type { Io } from './io.ts'
import { plain } from './render/width.ts'

/** The command was given in a way that means nothing. */
export class UsageFault extends Error {
  readonly code = 'USAGE'
  readonly hint: string | undefined
  constructor(message: string, hint?: string) {
    super(message)
    this.name = 'UsageFault'
    this.hint = hint
  }
}

/** One line: what, why, what to do. With --json an object on one line. Both on stderr: stdout is for data. */
export function tellFault(fault: unknown, io: Pick<Io, 'json' | 'err'>): Exit {
  if (isInterruption(fault)) return exits.interrupted
  const { code, message, hint, problems } = described(fault)
  if (io.json) {
    io.err(
      JSON.stringify({
        kind: 'fault',
        code,
        message,
        ...(hint === undefined ? {} : { hint }),
        ...(problems === undefined ? {} : { problems }),
      }),
    )
  } else {
    const gap = message.includes('\n') ? '\n' : /[.!?]$/.test(message) ? ' ' : '. '
    io.err(`countersign: ${code}: ${message}${hint === undefined ? '' : gap + hint}`)
    for (const problem of problems ?? []) for (const line of problemLines(problem)) io.err(line)
  }
  return fault instanceof UsageFault ? exits.usage : exits.fault
}

interface Problem {
  readonly line: number
  readonly column: number
  readonly at: string
  readonly message: string
  readonly hint?: string | undefined
  readonly source: string
}

function described(fault: unknown): {
  code: string
  message: string
  hint?: string | undefined
  problems?: readonly Problem[] | undefined
} {
  if (!(fault instanceof Error)) return { code: 'FAULT', message: String(fault) }
  // Every fault of ours has a code, and most say what to do; those of Node have a code at best.
  const { code, hint, problems, port } = fault as Error & {
    code?: unknown
    hint?: unknown
    problems?: readonly Problem[]
    port?: unknown
  }
  if (code === 'EADDRINUSE' && typeof port === 'number')
    return { code, message: `Port ${port} is taken`, hint: 'Use --port 0, or another endpoint.port.' }
  return {
    code: typeof code === 'string' ? code : 'FAULT',
    // Node begins many a message with the code, which stands before it already.
    message: fault.message.startsWith(`${String(code)}: `)
      ? fault.message.slice(String(code).length + 2)
      : fault.message,
    hint: typeof hint === 'string' ? hint : undefined,
    problems: Array.isArray(problems) && problems.length > 0 ? problems.slice(0, 10) : undefined,
  }
}

function problemLines({ line, column, at, message, hint, source }: Problem): string[] {
  const number = String(line)
  const shown = source.length > 160 ? `${source.slice(0, 160)}…` : source
  return [
    '',
    `  ${number} │ ${shown}`,
    ...(column <= shown.length + 1 ? [`  ${' '.repeat(number.length)} │ ${' '.repeat(column - 1)}^`] : []),
    `  ${at === '' ? '' : `${at}: `}${message}${hint === undefined ? '' : `. ${hint}`}`,
  ]
}

const listed = new Set(['approval', 'operation', 'server', 'tool'])

/** What the gateway does not know, by the name that the command gave it, with the command that lists what there is. */
export function withName(fault: unknown, noun: string, names: readonly string[]): unknown {
  if (!(fault instanceof Error) || (fault as { code?: unknown }).code !== 'NOT_FOUND') return fault
  if (!listed.has(noun) || names.length === 0) return fault
  const message = `there is no ${noun} ${names.map((it) => `\`${plain(it)}\``).join(' or ')} here`
  const all = noun === 'approval' ? ' --all' : ''
  return Object.assign(new Error(message, { cause: fault }), {
    code: 'NOT_FOUND',
    hint: `See \`countersign ${noun} list${all}\`.`,
  })
}

function isInterruption(fault: unknown): boolean {
  return fault instanceof Error && fault.name === 'AbortError'
}
