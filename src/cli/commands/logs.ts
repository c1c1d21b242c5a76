import { closeSync, existsSync, openSync, readSync, fstatSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { openHome } from '../../gateway/home.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import type { Declare } from '../program.ts'
import { plain } from '../render/width.ts'

const MOST_BYTES = 4 * 1024 * 1024

interface Options {
  readonly follow?: boolean
  readonly lines: string
}

export const declare: Declare = (program, act) =>
  program
    .command('logs')
    .description(
      'What the gateway in the background of this home wrote: one JSON object a line. Starts nothing.\n\n' +
        'Examples:\n  countersign logs\n  countersign logs --follow --lines 5',
    )
    .option('--follow', 'stay, and print what comes, until Ctrl-C')
    .option('--lines <n>', 'so many of the last lines', '50')
    .action(act(logs))

async function logs(context: Context, { follow, lines }: Options): Promise<Exit> {
  const { io, signal } = context
  const most = /^\d{1,6}$/.test(lines) ? Number(lines) : undefined
  if (most === undefined) throw new UsageFault(`--lines ${lines}: expected a whole number`)
  const { logFile } = openHome(context.home())
  if (!existsSync(logFile)) {
    io.note('Nothing was written yet.')
    return exits.done
  }
  let at = 0
  const next = (): string => {
    const file = openSync(logFile, 'r')
    try {
      const { size } = fstatSync(file)
      // A new file took the place of one that had become too large.
      if (size < at) at = 0
      const from = Math.max(at, size - MOST_BYTES)
      const bytes = Buffer.alloc(size - from)
      at = from + readSync(file, bytes, 0, bytes.length, from)
      return bytes.toString('utf8')
    } finally {
      closeSync(file)
    }
  }
  // What a server wrote may hold anything that a terminal would obey.
  const print = (text: string[]): void => text.forEach((line) => io.out(plain(line)))
  const first = next()
    .split('\n')
    .filter((line) => line !== '')
  print(most === 0 ? [] : first.slice(-most))
  if (follow !== true) return exits.done
  while (!signal.aborted) {
    await pause(300, undefined, { signal }).catch(() => {})
    print(
      next()
        .split('\n')
        .filter((line) => line !== ''),
    )
  }
  return exits.interrupted
}
