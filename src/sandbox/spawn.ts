import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { digest } from '../words/digest.ts'
import { Secret } from '../words/secret.ts'
import { guardian } from './guardian.ts'
import { endGroup, gone, recordChild, type ChildRecord } from './orphans.ts'
import { signalGroup } from './processes.ts'
import { Ring } from './ring.ts'

/** A program to start. No shell ever sees it. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The child's whole environment but PATH and HOME. */
  readonly env: Readonly<Record<string, Secret | string>>
}

export interface ChildOptions {
  /** Folder in which the child is noted for as long as it runs, so that a later start can end it. */
  readonly records?: string | undefined
  /** How much of its standard error is kept, in bytes. */
  readonly errorBytes?: number
  /** Time to end by itself after the end of its input, and after SIGTERM. */
  readonly graceMs?: number
}

export type Exit =
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  /** It never ran. */
  | { readonly kind: 'not-started'; readonly why: string }

export interface Child {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  /** Ends with the child itself; its own children may still hold the pipes. */
  readonly exited: Promise<Exit>
  /** The last of what it wrote to standard error. */
  errorOutput(): string
  /** Says that the child has come up, with all the processes that it needs. */
  settled(): void
  /** End of input, then SIGTERM, then SIGKILL, to the whole process group. Resolves when the group is gone. Idempotent. */
  end(): Promise<void>
}

/** How long the last output of a group that has ended is read. */
const LAST_WORDS_MS = 1000

// Children lead groups of their own, so no signal from a terminal reaches them, and nothing else ends them if we just exit.
process.on('exit', () => {
  for (const group of guardian.groups()) signalGroup(group, 'SIGKILL')
})

/** Starts a program in its own process group. Throws where it can neither be started nor noted, in words that name no argument. */
export function startChild(program: Program, options: ChildOptions = {}): Child {
  const graceMs = options.graceMs ?? 1000
  let child: ChildProcessByStdio<Writable, Readable, Readable>
  try {
    child = spawn(program.command, program.args, {
      cwd: program.cwd,
      env: environment(program.env),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      shell: false,
      windowsHide: true,
    })
  } catch (fault) {
    throw unstartable(fault)
  }

  const { pid } = child
  const errors = new Ring(options.errorBytes ?? 64 * 1024)
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})

  let record: ChildRecord | undefined
  if (pid !== undefined) {
    guardian.add(pid)
    if (options.records !== undefined) {
      record = noted(options.records, pid, program)
    }
  }

  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (fault) => resolve({ kind: 'not-started', why: plainly(fault) }))
    child.once('exit', (code, signal) => resolve({ kind: 'ended', code, signal }))
  })

  const end = async (): Promise<void> => {
    child.stdin.end()
    if (pid === undefined) return
    const ended = (await gone(pid, graceMs)) || (await endGroup(pid, graceMs))
    // With the last process of the group the pipes end, and what is in them is read; unless somebody left the group with one.
    const lastWords = Promise.all([exited, closed(child.stdout), closed(child.stderr)])
    await Promise.race([lastWords, sleep(LAST_WORDS_MS, undefined, { ref: false })])
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    guardian.delete(pid)
    if (ended) record?.erase()
  }
  let ending: Promise<void> | undefined
  const endOnce = (): Promise<void> => (ending ??= end())

  // Whatever the child leaves of its group when it goes by itself is of no use to anybody.
  void exited.then(endOnce)

  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    errorOutput: () => errors.text(),
    settled: () => record?.refresh(),
    end: endOnce,
  }
}

function noted(folder: string, pid: number, program: Program): ChildRecord | undefined {
  try {
    return recordChild(folder, pid, digest(JSON.stringify([program.command, ...program.args])))
  } catch (fault) {
    // A child that nobody could find again must not run.
    guardian.delete(pid)
    signalGroup(pid, 'SIGKILL')
    throw unstartable(fault)
  }
}

function environment(given: Program['env']): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const name of ['PATH', 'HOME']) {
    const value = process.env[name]
    if (value !== undefined) environment[name] = value
  }
  for (const [name, value] of Object.entries(given)) {
    environment[name] = value instanceof Secret ? value.reveal() : value
  }
  return environment
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve()
    else stream.once('close', resolve)
  })
}

function unstartable(fault: unknown): Error {
  return new Error(plainly(fault))
}

// The message of a spawn fault repeats all arguments, which may hold what nobody should read.
function plainly(fault: unknown): string {
  const { code, syscall } = fault as NodeJS.ErrnoException
  return code === undefined ? 'the program cannot be started' : `${syscall?.split(' ')[0] ?? 'start'}: ${code}`
}
