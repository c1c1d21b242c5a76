import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { openFrontDoor } from './front-door.ts'
import { isLoopback } from './host-check.ts'
import { HttpDoor, MCP_PATH } from './http.ts'
import type { DownstreamOptions } from './options.ts'
import type { Ports } from './ports.ts'

export interface Listening {
  /** Where clients connect, e.g. `http://127.0.0.1:4600/mcp`. */
  readonly url: string
  readonly port: number
  /** Figures for people: legacy sessions that are open, and connections that were turned away. */
  readonly figures: () => { readonly sessions: number; readonly dropped: number }
  /**
   * Takes nothing new, ends streams, lets calls under way answer for so many milliseconds (1,000), then closes what is
   * left. Idempotent.
   */
  readonly close: (withinMs?: number) => Promise<void>
}

export interface ListenOptions {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Listening beyond the loopback interface has to be said, since it needs TLS in front. */
  readonly beyondLoopback?: boolean
  readonly ports: Ports
  readonly options: DownstreamOptions
}

const CHECK_EVERY_MS = 1_000
const LAST_ANSWERS_MS = 1_000
const SWEEP_MS = 20

/** Throws a RangeError for an address that others can reach where that was not said; rejects where the port is taken. */
export async function listen(given: ListenOptions): Promise<Listening> {
  const { host, options } = given
  if (!isLoopback(host) && given.beyondLoopback !== true) {
    throw new RangeError(
      `${host} can be reached from other machines: only loopback addresses are listened on by default`,
    )
  }
  const door = openFrontDoor(given.ports, options)
  const http = new HttpDoor(door)
  const { intakeMs, connections } = options.limits
  const server = createServer({
    headersTimeout: intakeMs,
    // The body has a deadline of its own, which can say 408 first.
    requestTimeout: intakeMs * 2,
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, intakeMs),
    keepAliveTimeout: 65_000,
    noDelay: true,
  })
  server.maxConnections = connections
  let dropped = 0
  server.on('drop', () => dropped++)
  // Connections on which nothing was asked yet: node does not count them as idle.
  const fresh = new Set<Socket>()
  server.on('connection', (socket) => {
    fresh.add(socket)
    socket.once('close', () => fresh.delete(socket))
  })
  server.on('request', (request, response) => {
    fresh.delete(request.socket)
    http.handle(request, response)
  })
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(given.port, host, resolve)
    })
  } catch (fault) {
    door.close()
    throw fault
  }
  server.on('error', (fault) => given.ports.onFault(fault, 'http'))
  const { port } = server.address() as AddressInfo
  const closing = async (withinMs: number) => {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()))
    http.endStreams()
    door.subscriptions.close()
    // A connection that was busy until now does not close by itself when its answer is out.
    const sweep = setInterval(() => {
      server.closeIdleConnections()
      for (const socket of fresh) socket.destroy()
    }, SWEEP_MS)
    const last = setTimeout(() => server.closeAllConnections(), withinMs)
    await ended
    clearInterval(sweep)
    clearTimeout(last)
    http.close()
    door.close()
  }
  let closed: Promise<void> | undefined
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${MCP_PATH}`,
    port,
    figures: () => ({ sessions: http.sessions, dropped }),
    close: (withinMs = LAST_ANSWERS_MS) => (closed ??= closing(withinMs)),
  }
}
