import { setTimeout as sleep } from 'node:timers/promises'
import type { NoAnswer } from '../../flow/receipt/receipt.ts'
import { startChild, type ChildOptions, type Exit, type Program } from '../../sandbox/spawn.ts'
import { LineReader } from '../wire/lines.ts'
import { MESSAGE_BYTES, type Link, type LinkEvents, type Strays } from './link.ts'
import { Pipe } from './pipe.ts'

export interface StdioOptions extends ChildOptions {
  readonly messageBytes?: number
}

/** What may wait in our memory for a server that does not read its input. */
const UNREAD_BYTES = 16 * 1024 * 1024
/** How long an answer that was written before the end is still looked for after it; helpers of the server may hold the pipe open. */
const LAST_WORDS_MS = 500

/** Starts a server and speaks with it over its standard streams, a message a line. Throws where it cannot be started. */
export function openStdio(program: Program, options: StdioOptions, events: LinkEvents, strays: Strays): Link {
  const child = startChild(program, options)
  let ending = false

  const pipe = new Pipe(
    (text) => {
      if (!child.stdin.writable) return 'the input of the server is closed'
      if (child.stdin.writableLength > UNREAD_BYTES) return 'the server does not read its input'
      child.stdin.write(`${text}\n`)
      return undefined
    },
    events,
    strays,
  )
  const reader = new LineReader(options.messageBytes ?? MESSAGE_BYTES, {
    line: (bytes) => {
      if (bytes.length > 0) pipe.receive(bytes)
    },
    oversize: ({ head, tail, length }) => pipe.receiveOversize(head, tail, length),
  })

  child.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
  const drained = Promise.race([once(child.stdout, 'end'), once(child.stdout, 'close')])
  const broken = Promise.race([drained, once(child.stdin, 'error')])

  const goDown = (why: NoAnswer, detail: string): void => {
    if (reader.torn > 0) strays.noise++
    pipe.fail(ending ? 'closed' : why, detail)
    if (!ending) events.down(detail)
  }
  void child.exited.then(async (exit) => {
    await Promise.race([drained, lastWords()])
    goDown('crash', inWords(exit))
  })
  // Mostly the end of a stream is the end of the process, and then that is the better thing to say.
  void broken.then(async () => {
    if ((await Promise.race([child.exited, lastWords()])) === undefined)
      goDown('closed', 'the server closed its streams')
  })

  return {
    transport: 'stdio',
    pid: child.pid,
    open: (leg) => pipe.open(leg),
    post: (text) => pipe.post(text),
    nextId: () => pipe.nextId(),
    speak: (revision) => pipe.speak(revision),
    settled: () => child.settled(),
    retire: () => Promise.resolve(),
    close: async () => {
      ending = true
      pipe.fail('closed', 'the connection was closed')
      await child.end()
    },
    errorOutput: () => child.errorOutput(),
  }
}

function once(stream: NodeJS.EventEmitter, event: string): Promise<void> {
  return new Promise((resolve) => void stream.once(event, () => resolve()))
}

function lastWords(): Promise<undefined> {
  return sleep(LAST_WORDS_MS, undefined, { ref: false })
}

function inWords(exit: Exit): string {
  if (exit.kind === 'not-started') return `the server did not start (${exit.why})`
  return exit.signal === null
    ? `the server ended with exit code ${exit.code}`
    : `the server was ended by the signal ${exit.signal}`
}
