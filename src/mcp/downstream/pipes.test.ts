import { mkdtemp, rm } from 'node:fs/promises'
import { type Socket, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Credential } from '../../flow/principal/principal.ts'
import type { JsonObject } from '../../words/json.ts'
import type { DownstreamLimits } from './options.ts'
import { servePipe } from './pipe.ts'
import { StandIn, options } from './stand-in.test.ts'

// A gateway's socket, and clients on it, as `countersign stdio` has them.

export interface PipeServed {
  readonly path: string
  readonly ports: StandIn
  /** How many pipes have been served to their end. */
  readonly ended: () => number
  /** Ends every pipe at our side, without a word. */
  readonly cut: () => void
}

export async function servedPipe(
  t: TestContext,
  limits: Partial<DownstreamLimits> = {},
  credential: Credential = { kind: 'socket' },
  signal?: AbortSignal,
): Promise<PipeServed> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-pipe-'))
  const path = join(folder, 'gate.sock')
  const ports = new StandIn()
  const given = options(limits)
  const sockets = new Set<Socket>()
  let ended = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    void servePipe(socket, credential, ports, given, signal).then(() => ended++)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.after(async () => {
    cut()
    server.close()
    await rm(folder, { recursive: true })
  })
  return { path, ports, ended: () => ended, cut }
}

/** A client that writes what it is told to and hands over what comes, line by line. */
export class RawPipe {
  readonly socket: Socket
  readonly got: JsonObject[] = []
  #rest = ''
  readonly #waiting = new Set<() => void>()
  #over = false

  constructor(path: string) {
    this.socket = connect({ path, allowHalfOpen: true })
    this.socket.setEncoding('utf8')
    this.socket.on('error', () => {})
    this.socket.on('data', (piece: string) => {
      const lines = (this.#rest + piece).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) this.got.push(JSON.parse(line) as JsonObject)
      this.#wake()
    })
    this.socket.on('close', () => this.#end())
    this.socket.on('end', () => this.#end())
  }

  say(message: string | JsonObject): void {
    this.socket.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  }

  request(id: number | string, method: string, params: JsonObject = {}): Promise<JsonObject> {
    this.say({ jsonrpc: '2.0', id, method, params })
    return this.next((message) => message['id'] === id && message['method'] === undefined)
  }

  async initialize(capabilities: JsonObject = {}): Promise<JsonObject> {
    const clientInfo = { name: 'raw', version: '1' }
    const got = await this.request('init', 'initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo })
    this.say({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return got
  }

  /** The first message, come or still to come, of which it holds; it is taken out. */
  async next(holds: (message: JsonObject) => boolean): Promise<JsonObject> {
    for (;;) {
      const at = this.got.findIndex(holds)
      if (at !== -1) return this.got.splice(at, 1)[0]!
      if (this.#over) throw new Error('the pipe ended')
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  async end(): Promise<void> {
    this.socket.end()
    while (!this.#over) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  #end(): void {
    this.#over = true
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
