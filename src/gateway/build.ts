import { createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { defaultLimits } from '../mcp/downstream/options.ts'
import { servePipe } from '../mcp/downstream/pipe.ts'
import type { Ports } from '../mcp/downstream/ports.ts'
import { listen } from '../mcp/downstream/server.ts'
import type { Point } from '../flow/index.ts'
import type { Browser } from '../identity/client/upstream-auth.ts'
import { QuickJsExecutor } from '../code/index.ts'
import { codeDoorOf } from './code-door.ts'
import { exposureOf } from './exposure.ts'
import type { Secret } from '../words/secret.ts'
import { assemble, type Core } from './assemble.ts'
import type { Gateway, GatewayOptions } from './control/control.ts'
import { listenPrivately } from './control/listen.ts'
import { serveControl } from './control/routes.ts'
import type { OwnedHome } from './ownership.ts'
import { addGauges } from './gauges.ts'
import { openMetricsDoor } from './metrics-door.ts'
import { Notices } from './notices.ts'
import { Reloader } from './reload.ts'
import { stateKey } from './state-key.ts'
import { Steward } from './steward.ts'

export interface StartOptions extends GatewayOptions {
  /** Tests only: called at each named point of each call. */
  readonly at?: (point: Point) => void
  /** Logs in at the upstreams that ask for it, without a person. */
  readonly browser?: Browser
  /** Told of what is broken and answers nobody. */
  readonly onFault?: (fault: unknown, where: string) => void
}

export interface RunningGateway extends Gateway {
  readonly core: Core
  /** Sessions of the older era that are open by HTTP. */
  readonly sessions: () => number
  /** Where Prometheus reads, if anywhere. */
  readonly metricsUrl: string | undefined
}

const LISTS_WITHIN_MS = 3_000

/** Opens everything, and the doors last: when this resolves, clients can connect. */
export async function startGateway(config: Config, home: OwnedHome, options: StartOptions): Promise<RunningGateway> {
  const core = await assemble(config, home, options)
  // Clients that come at once shall see whole lists, and one server that does not answer shall not keep the door shut.
  await settledOr(core, LISTS_WITHIN_MS)
  let end: () => void = () => {}
  const asked = new Promise<void>((resolve) => (end = resolve))
  const reloader = new Reloader(core)
  const steward = new Steward(core, { config, home, url: () => url, stop: () => end(), reloader })
  let running = 0
  let begun = 0
  const flow: Ports['flow'] = {
    check: (request, signal) => core.flow.check(request, signal),
    call: async (request, caller, signal) => {
      running++
      begun++
      try {
        return await core.flow.call(request, caller, signal)
      } finally {
        running--
      }
    },
  }
  const ports: Ports = {
    flow,
    shelf: core.shelf,
    sources: core.sources,
    exposure: exposureOf(config.exposure, core.search, codeDoorOf(core, new QuickJsExecutor())),
    identities: core.identities,
    ...authorizationOf(config, core),
    approvals: { answer: (id, answer) => steward.answerElicited(id, answer) },
    spill: core.spill,
    operations: {
      status: (owner, id) => steward.operationStatus(owner, id),
      wait: (owner, id, ms, signal) => steward.operationWait(owner, id, ms, signal),
    },
    onFault: core.onFault,
  }
  const door = {
    stateKey: stateKey(home.folder),
    revisions: config.endpoint.revisions,
    allowedHosts: config.endpoint.allowedHosts,
    allowedOrigins: config.endpoint.allowedOrigins,
    limits: {
      ...defaultLimits,
      sessions: config.limits.sessions,
      // No principal takes the sessions of all others.
      sessionsPerPrincipal: Math.ceil(config.limits.sessions / 4),
      messageBytes: config.limits.argumentBytes + (1 << 16),
    },
  }
  const closers: (() => Promise<void>)[] = [() => core.close()]
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close()
  }
  addGauges(core)
  const notices = new Notices(core)
  notices.start()
  closers.push(() => Promise.resolve(notices.close()))
  if (config.reload.watch) reloader.watch()
  closers.push(() => Promise.resolve(reloader.close()))
  let url = ''
  let metricsUrl: string | undefined
  let sessions = (): number => 0
  let controlled = (): { running: number; begun: number } => ({ running: 0, begun: 0 })
  try {
    const { host, port } = config.endpoint
    const http = await listen({ host, port: options.port ?? port, ports, options: door })
    closers.push(() => http.close())
    sessions = () => http.figures().sessions
    url = http.url
    core.doorPorts.add(Number(new URL(url).port))
    const ending = new AbortController()
    // Half open: a client that has said its last still gets the answers.
    const pipes = createServer({ allowHalfOpen: true }, (socket) => {
      running++
      begun++
      servePipe(socket, { kind: 'socket' }, ports, door, ending.signal)
        .catch((fault: unknown) => core.onFault(fault, 'pipe'))
        .finally(() => running--)
    })
    await listenPrivately(pipes, home.mcpSocket)
    closers.push(() => {
      ending.abort()
      return new Promise((resolve) => pipes.close(() => resolve()))
    })
    const { prometheus } = config.telemetry
    if (prometheus !== undefined) {
      const metrics = await openMetricsDoor(prometheus, () => core.observatory.metrics.text())
      closers.push(() => metrics.close())
      metricsUrl = metrics.url
      core.doorPorts.add(Number(new URL(metrics.url).port))
    }
    const control = await serveControl(steward, home, core.onFault)
    controlled = () => control.activity()
    closers.push(() => control.close())
  } catch (fault) {
    await closeAll()
    throw fault
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= closeAll())
  return {
    core,
    sessions: () => sessions(),
    url,
    metricsUrl,
    control: steward,
    activity: () => ({ running: running + controlled().running, begun: begun + controlled().begun }),
    ended: asked.then(close),
    close: async () => {
      end()
      await close()
    },
  }
}

function authorizationOf(config: Config, { identities }: Core): Pick<Ports, 'authorization'> {
  const { auth } = config.endpoint
  if (auth === undefined) return {}
  const issuers = auth.issuers.map(({ rules }) => rules.issuer)
  const admit = async (token: Secret): Promise<void> => identities.admit?.(token)
  return { authorization: { ...auth, issuers, admit } }
}

async function settledOr({ settled }: Core, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([settled, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
