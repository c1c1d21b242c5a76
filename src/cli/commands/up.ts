import { setFlagsFromString } from 'node:v8'
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { Core } from '../../gateway/assemble.ts'
import type { Gateway } from '../../gateway/control/control.ts'
import { idleMs, untilIdle } from '../../gateway/control/idle.ts'
import { makeHome } from '../../gateway/home.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import type { Declare } from '../program.ts'

interface Options {
  readonly tour?: boolean
  readonly background?: boolean
  readonly port?: string
}

export const declare: Declare = (program, act) =>
  program
    .command('up')
    .description(
      'Start the gateway of this home and stay until Ctrl-C. Clients connect by HTTP, or by `countersign stdio`.\n\n' +
        'Examples:\n' +
        '  countersign up\n' +
        '  countersign up --tour            first show what the gates do, on real servers\n' +
        '  countersign up --port 0          on any free port',
    )
    .option('--tour', 'play the tour of the configuration (tour.yaml) first')
    .option('--no-tour', 'play no tour, whatever came before')
    .option('--port <n>', 'listen on that port instead of the configured one')
    .option('--background', 'what other commands start: says nothing, and ends after ten idle minutes')
    .action(act(up))

async function up(context: Context, options: Options): Promise<Exit> {
  // From the start: a gateway that is told to end while it opens has children to take along.
  const over = new AbortController()
  const end = () => over.abort()
  process.once('SIGTERM', end)
  try {
    return await stay(context, options, AbortSignal.any([context.signal, over.signal]))
  } finally {
    process.off('SIGTERM', end)
  }
}

async function stay({ io, ...context }: Context, options: Options, signal: AbortSignal): Promise<Exit> {
  const config = await context.config()
  const background = options.background === true
  const port = options.port === undefined ? undefined : portOf(options.port)
  const folder = makeHome(context.home()).folder
  // A gateway is warm sooner when all its code is compiled at once, if only plainly: a sixth less time for each of the
  // first ten thousand calls. Other commands end before that would pay.
  setFlagsFromString('--always-sparkplug')
  const [{ ownHome }, { startGateway }] = await Promise.all([
    import('../../gateway/ownership.ts'),
    import('../../gateway/build.ts'),
  ])
  using home = ownHome(folder)
  const chosen = port ?? (background ? await portOrAny(config.endpoint.host, config.endpoint.port) : undefined)
  const { openLog } = await import('../../telemetry/log.ts')
  // The tour tells of its unknown outcome itself.
  const log = options.tour === true ? openLog(process.env['COUNTERSIGN_LOG'] ?? 'error') : openLog()
  const gateway = await startGateway(config, home, {
    background,
    onFault: (fault, where) => log.fault(fault, where),
    ...(chosen === undefined ? {} : { port: chosen }),
  })
  try {
    gateway.core.observatory.onFinished((call) => log.finished(call))
    if (!background) for (const line of unconfined(gateway.core.started)) io.err(line)
    const reach = { config: config.file, home: home.folder, url: gateway.url, tokenFile: home.tokenFile }
    if (io.json) io.outJson({ ...reach, pid: process.pid })
    else io.note(`The gateway listens at ${gateway.url}`)
    if (options.tour === true && !io.json && !signal.aborted) {
      const { playTour } = await import('../tour/index.ts')
      const ended = await playTour(gateway, io, config.folder, signal)
      if (!ended && !signal.aborted) io.err('The tour did not end as it says it does. The gateway stays up.')
    }
    if (!io.json && !background && !signal.aborted) {
      const { clientLines } = await import('../render/clients.ts')
      for (const line of ['', ...clientLines(reach), '', 'Ctrl-C ends it.']) io.note(line)
    }
    const reload = (): void =>
      void gateway.control
        .reloadConfig({ loosening: false })
        .then(({ state, why }) =>
          io.err(`The configuration was read again: ${state}${why === undefined ? '' : `; ${why}`}`),
        )
        .catch((fault: unknown) => io.err(`The configuration could not be read again: ${String(fault)}`))
    process.on('SIGHUP', reload)
    await untilOver(gateway, signal, background).finally(() => process.off('SIGHUP', reload))
  } finally {
    await gateway.close()
  }
  return exits.done
}

/** Servers that should be confined and are not. Where `none` is declared, that is known. */
function unconfined(started: Core['started']): string[] {
  return [...started]
    .filter(([, { why }]) => why !== undefined)
    .map(([name, { why, spec }]) =>
      spec.reach.kind === 'stdio' && spec.reach.refused !== undefined
        ? `${name} was not started: ${why!}`
        : `Warning: ${name} runs without a sandbox: ${why!}`,
    )
}

/** Resolves at Ctrl-C, SIGTERM, `countersign stop`, or, for one that nobody started by hand, when it has been idle for long. */
async function untilOver(gateway: Gateway, signal: AbortSignal, background: boolean): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
  const idle = background ? untilIdle(() => gateway.activity(), idleMs, signal) : aborted
  await Promise.race([gateway.ended, aborted, idle])
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  if (port > 65_535) throw new UsageFault(`--port ${text}: expected a number from 0 to 65535`)
  return port
}

/**
 * The configured port, or any free one where another gateway has it: two homes whose clients each start one by `stdio`
 * must not shut each other out over a port that neither of them uses.
 */
async function portOrAny(host: string, port: number): Promise<number> {
  const probe = createServer()
  try {
    probe.listen(port, host)
    await once(probe, 'listening')
    return port
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EADDRINUSE') return 0
    throw fault
  } finally {
    if (probe.listening) await new Promise((resolve) => probe.close(resolve))
  }
}
