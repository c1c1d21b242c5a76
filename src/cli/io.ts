import { createInterface } from 'node:readline/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { styleText } from 'node:util'

export type Style = Parameters<typeof styleText>[0]

/** How a command speaks: data on stdout, everything else on stderr. */
export interface Io {
  /** Print data as JSON and nothing for people. */
  readonly json: boolean
  /** Is somebody at the terminal who can be asked? */
  readonly interactive: boolean
  /** Columns of the terminal; Infinity where stdout is none. */
  readonly columns: number
  /** A line of data. */
  out(text: string): void
  /** One JSON value, as data. */
  outJson(value: unknown): void
  /** Data as it is, without a line end. */
  write(bytes: string | Uint8Array): void
  /** A line for the person who watches; left out with --quiet. */
  note(text: string): void
  /** A line that nobody may miss. */
  err(text: string): void
  /** Coloured where stdout shows colours. */
  paint(style: Style, text: string): string
  /** Puts a question on stderr and reads one line. Undefined when nobody can answer, or the signal aborts first. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>
}

export interface IoOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly color: boolean
}

export function systemIo({ json, quiet, color }: IoOptions): Io {
  const { stdin, stdout, stderr } = process
  const colored = color && showsColors()
  const interactive = isatty(0) && isatty(2) && !json
  const err = (text: string) => void stderr.write(`${text}\n`)
  return {
    json,
    interactive,
    columns: isatty(1) ? stdout.columns : Infinity,
    out: (text) => void stdout.write(`${text}\n`),
    outJson: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    write: (bytes) => void stdout.write(bytes),
    note: (text) => {
      if (!quiet) err(text)
    },
    err,
    paint: (style, text) => (colored ? styleText(style, text, { validateStream: false }) : text),
    ask: async (question, signal) => {
      if (!interactive || signal.aborted) return undefined
      await forgetTyped(stdin)
      const lines = createInterface({ input: stdin, output: stderr, terminal: true })
      // Ctrl-C at the question is Ctrl-C for the command.
      lines.once('SIGINT', () => process.emit('SIGINT'))
      const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)))
      try {
        return await Promise.race([lines.question(question, { signal }), closed])
      } catch (fault) {
        if (signal.aborted) return undefined
        throw fault
      } finally {
        lines.close()
      }
    },
  }
}

/** https://no-color.org, and FORCE_COLOR as Node understands it. */
function showsColors(): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isatty(1) && TERM !== 'dumb'
}

// What was typed before the question could be read is no answer to it.
async function forgetTyped(stdin: NodeJS.ReadStream): Promise<void> {
  const forget = () => {}
  stdin.on('data', forget)
  await pause(30)
  stdin.off('data', forget)
  stdin.pause()
}
