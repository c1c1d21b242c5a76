import { spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { ControlClient } from './client.ts'
import { ControlFault } from './fault.ts'
import { type Home, makeHome, openHome } from '../home.ts'
import { ownerOf } from '../ownership.ts'

export interface AttachOptions {
  /** Absolute. */
  readonly home: string
  /** Absolute; needed only where a gateway has to be started. */
  readonly config: string | undefined
  /** Start a gateway where none runs? */
  readonly start: boolean
  readonly signal: AbortSignal
  readonly deadlineMs?: number
}

export interface Attached {
  readonly home: Home
  readonly client: ControlClient
  /** Did this call start the gateway? */
  readonly started: boolean
}

const deadlineMs = 30_000
const pollMs = 50
const largestLogBytes = 10 * 1024 * 1024
const launcher = fileURLToPath(new URL('../../../bin/countersign.mjs', import.meta.url))

/** The running gateway of a home, started where none runs. Rejects with a ControlFault or HomeFault that says what to do. */
export async function attach(options: AttachOptions): Promise<Attached> {
  const { home: folder, config, signal } = options
  signal.throwIfAborted()
  if (existsSync(folder)) {
    const home = openHome(folder)
    if (await answers(home, signal)) return { home, client: new ControlClient(home.controlSocket), started: false }
  }
  const starting = ownerOf(folder) !== undefined
  if (!starting) {
    if (!options.start)
      throw new ControlFault('GATEWAY_UNREACHABLE', 'no gateway runs here', 'Start one with `countersign up`.')
    if (config === undefined)
      throw new ControlFault(
        'GATEWAY_UNREACHABLE',
        'no gateway runs here, and there is no configuration to start one with',
        'Run `countersign init`, or name one with --config FILE.',
      )
    makeHome(folder)
  }
  const child = starting || config === undefined ? undefined : launch(openHome(folder), config)
  const home = await untilAnswers(folder, child, signal, options.deadlineMs ?? deadlineMs)
  return { home, client: new ControlClient(home.controlSocket), started: child !== undefined }
}

/** Is there a gateway behind the socket? One of another version is a fault, since nothing can be asked of it. */
async function answers(home: Home, signal: AbortSignal): Promise<boolean> {
  try {
    await new ControlClient(home.controlSocket).status(AbortSignal.any([signal, AbortSignal.timeout(10_000)]))
    return true
  } catch (fault) {
    if (fault instanceof ControlFault && (fault.code === 'GATEWAY_UNREACHABLE' || fault.code === 'GATEWAY_LOST'))
      return false
    throw fault
  }
}

interface Launched {
  /** Set when the process has ended. */
  ended(): string | undefined
  logTail(): string
}

/** Starts a gateway that outlives us. Its log goes on where the one before it ended. */
function launch(home: Home, config: string): Launched {
  if ((statSync(home.logFile, { throwIfNoEntry: false })?.size ?? 0) > largestLogBytes)
    renameSync(home.logFile, `${home.logFile}.1`)
  const log = openSync(home.logFile, 'a', 0o600)
  const from = fstatSync(log).size
  let ended: string | undefined
  const args = [launcher, 'up', '--no-tour', '--background', '--config', config, '--home', home.folder]
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log] })
  child.once('error', (error) => (ended = error.message))
  child.once(
    'exit',
    (code, signal) => (ended = signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`),
  )
  child.unref()
  closeSync(log)
  return { ended: () => ended, logTail: () => tailOf(home.logFile, from) }
}

async function untilAnswers(
  folder: string,
  child: Launched | undefined,
  signal: AbortSignal,
  withinMs: number,
): Promise<Home> {
  const deadline = performance.now() + withinMs
  for (;;) {
    // Opened anew each time: a home whose path is too long names its sockets only once it is owned.
    const home = openHome(folder)
    if (existsSync(home.controlSocket) && (await answers(home, signal))) return home
    const ended = child?.ended()
    // When two start one at the same time, one of the two ends by itself, and the other is what we wait for.
    if (ended !== undefined && ownerOf(folder) === undefined)
      throw new ControlFault(
        'GATEWAY_DIED',
        `the gateway did not start: ${ended}${withTail(child!.logTail())}`,
        `See ${home.logFile}, and run \`countersign doctor\`.`,
      )
    if (performance.now() > deadline)
      throw new ControlFault(
        'GATEWAY_SILENT',
        `the gateway did not answer within ${Math.round(withinMs / 1000)} s${withTail(child?.logTail() ?? '')}`,
        `See ${home.logFile}.`,
      )
    await pause(pollMs, undefined, { signal })
  }
}

function withTail(tail: string): string {
  return tail === '' ? '' : `\n${tail}`
}

/** The last lines that were written after that offset. */
function tailOf(file: string, from: number): string {
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const length = Math.min(Math.max(0, size - from), 8192)
    const bytes = Buffer.alloc(length)
    readSync(handle, bytes, 0, length, size - length)
    return bytes.toString('utf8').trimEnd().split('\n').slice(-20).join('\n')
  } finally {
    closeSync(handle)
  }
}
