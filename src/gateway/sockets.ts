import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HomeFault } from './home-fault.ts'

export interface Sockets {
  readonly controlSocket: string
  readonly mcpSocket: string
}

// sun_path of unix(7) holds 108 bytes, 104 on macOS, the NUL at the end included.
const mostBytes = process.platform === 'darwin' ? 103 : 107
const names = { controlSocket: 'control.sock', mcpSocket: 'mcp.sock' } as const

/** Where the record of another folder for the sockets lies, in the home. */
const recordOf = (home: string) => join(home, 'sockets')

/** Where the sockets of a home are: in it, or in the folder that it names because its own path is too long. */
export function findSockets(home: string): Sockets {
  if (fits(home)) return socketsIn(home)
  try {
    const folder = readFileSync(recordOf(home), 'utf8').trim()
    if (folder !== '') return socketsIn(folder)
  } catch {
    // No gateway has run here yet; the one to come will choose the same folder, or record another.
  }
  return socketsIn(shortFolder(home))
}

/**
 * Makes the folder for the sockets and records it. For the owner of the home only. Throws where somebody else has put
 * something in its place: the temporary folder is everybody's.
 */
export function prepareSockets(home: string): Sockets {
  if (fits(home)) return socketsIn(home)
  const folder = shortFolder(home)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (
    !found.isDirectory() ||
    (found.mode & 0o077) !== 0 ||
    (process.getuid !== undefined && found.uid !== process.getuid())
  )
    throw new HomeFault(
      'HOME_UNSAFE',
      `${folder} is not yours alone`,
      'Remove it, or use a --home with a shorter path.',
    )
  const record = recordOf(home)
  writeFileSync(`${record}.new`, `${folder}\n`, { mode: 0o600 })
  renameSync(`${record}.new`, record)
  return socketsIn(folder)
}

function socketsIn(folder: string): Sockets {
  return { controlSocket: join(folder, names.controlSocket), mcpSocket: join(folder, names.mcpSocket) }
}

function fits(folder: string): boolean {
  return Object.values(names).every((name) => Buffer.byteLength(join(folder, name)) <= mostBytes)
}

function shortFolder(home: string): string {
  const name = `countersign-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`
  const candidates = [process.env['XDG_RUNTIME_DIR'], tmpdir(), '/tmp'].filter(
    (it) => it !== undefined && it.startsWith('/'),
  )
  const folder = candidates.map((it) => join(it!, name)).find(fits)
  if (folder === undefined)
    throw new HomeFault(
      'HOME_UNSAFE',
      `the path of ${home} is too long for a socket`,
      'Use a --home with a shorter path.',
    )
  return folder
}
