import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, type Server, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { confined } from './bubblewrap.ts'
import type { Program } from './spawn.ts'

/** What the probe reaches for. */
export interface Baits {
  /** A file outside of everything that is declared; one that would be written there; one in a folder of the system. */
  readonly secret: string
  readonly written: string
  readonly system: string
  /** A variable of our own environment. */
  readonly variable: string
  /** Servers of ours, on the loopback interface and on a socket in the file system. */
  readonly port: number
  readonly socket: string
  readonly pid: number
}

export const canaries = ['read', 'write', 'system', 'environment', 'connect', 'socket', 'kill', 'processes'] as const
/** true: the canary escaped. */
export type Escapes = Readonly<Record<(typeof canaries)[number], boolean>>

const PROBE_MS = 20_000

/**
 * Lets a program try to get out, confined as a server is that declares nothing. Without `bubblewrap` it runs as it is: a
 * control that shows that the baits can be taken.
 */
export async function tryCanaries(bubblewrap: string | undefined): Promise<Escapes> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-canary-'))
  const servers: Server[] = []
  const listening = async (at: { port: number; host: string } | { path: string }): Promise<Server> => {
    const server = createServer((socket) => socket.destroy())
    servers.push(server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(at, resolve)
    })
    return server
  }
  const variable = 'COUNTERSIGN_CANARY'
  try {
    const secret = join(folder, 'secret')
    writeFileSync(secret, 'canary', { mode: 0o600 })
    const socket = join(folder, 'socket')
    await listening({ path: socket })
    const { port } = (await listening({ port: 0, host: '127.0.0.1' })).address() as AddressInfo
    const baits: Baits = {
      secret,
      written: join(folder, 'written'),
      system: `/usr/lib/countersign-canary-${process.pid}`,
      variable,
      port,
      socket,
      pid: process.pid,
    }
    const probe = new URL(import.meta.url.endsWith('.ts') ? './canary-probe.ts' : './canary-probe.js', import.meta.url)
    const program: Program = {
      command: process.execPath,
      args: [fileURLToPath(probe), JSON.stringify(baits)],
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: {},
    }
    const bare = { ...process.env, [variable]: 'canary' }
    const { command, args, cwd } =
      bubblewrap === undefined
        ? program
        : confined(program, { mode: 'require', read: [], write: [], network: false }, bubblewrap)
    const env = bubblewrap === undefined ? bare : { PATH: process.env['PATH'] }
    const { stdout } = await promisify(execFile)(command, [...args], { cwd, env, timeout: PROBE_MS })
    rmSync(baits.system, { force: true })
    return JSON.parse(stdout) as Escapes
  } finally {
    for (const server of servers) server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
