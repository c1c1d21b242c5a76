import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Secret } from '../words/secret.ts'
import { HomeFault } from './home-fault.ts'
import { findSockets } from './sockets.ts'

/** The folder where one gateway keeps its state. Only its owner may look into it. */
export interface Home {
  /** Absolute. */
  readonly folder: string
  /** Bearer token of the local user for loopback HTTP; made once, mode 0600. */
  readonly tokenFile: string
  /** The HTTP API of the other commands. */
  readonly controlSocket: string
  /** Newline-delimited MCP, as `countersign stdio` passes it through. */
  readonly mcpSocket: string
  /** Where a gateway that was started in the background writes. */
  readonly logFile: string
}

/** `--home`, or $COUNTERSIGN_HOME, or `.countersign` beside the configuration. Absolute; undefined where none of them is given. */
export function homeFolder(
  flag: string | undefined,
  configFile: string | undefined,
  environment: { readonly [name: string]: string | undefined } = process.env,
): string | undefined {
  const named = flag ?? (environment['COUNTERSIGN_HOME'] === '' ? undefined : environment['COUNTERSIGN_HOME'])
  if (named !== undefined) return resolve(named)
  return configFile === undefined ? undefined : join(dirname(resolve(configFile)), '.countersign')
}

/** Makes the home with its token where they are missing. Throws a HomeFault when others could look into it. */
export function makeHome(folder: string): Home {
  makeFolder(folder)
  const home = openHome(folder)
  makeToken(home.tokenFile)
  ignoreInGit(folder)
  return home
}

// Folder by folder: where the kernel says ENOENT to a folder whose parent exists (/proc), Node's recursive mkdir never ends.
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || existsSync(dirname(folder)))
      throw new HomeFault('HOME_UNSAFE', `the home cannot be made: ${message}`, 'Name another one with --home DIR.')
    makeFolder(dirname(folder))
    makeFolder(folder)
  }
}

/** The home as it stands. Throws a HomeFault where it is missing, or where others could look into it. */
export function openHome(folder: string): Home {
  assertPrivateFolder(folder)
  return {
    folder,
    tokenFile: join(folder, 'token'),
    ...findSockets(folder),
    logFile: join(folder, 'gateway.log'),
  }
}

export function readToken(home: Home): Secret {
  assertPrivateFile(home.tokenFile)
  const token = readFileSync(home.tokenFile, 'utf8').trim()
  // An empty token would be one that everybody knows.
  if (!/^[A-Za-z0-9_-]{32,}$/.test(token))
    throw new HomeFault('HOME_UNSAFE', `${home.tokenFile} holds no token`, 'Delete it; the next start makes a new one.')
  return new Secret(token)
}

/** 32 random bytes, written once: an existing token is never replaced, since clients hold it. */
function makeToken(file: string): void {
  let handle: number
  try {
    handle = openSync(file, 'wx', 0o600)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault
    assertPrivateFile(file)
    return
  }
  try {
    writeSync(handle, `${randomBytes(32).toString('base64url')}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

// A home often lies inside a checkout, and must never be committed with it.
function ignoreInGit(folder: string): void {
  const file = join(folder, '.gitignore')
  if (!existsSync(file)) writeFileSync(file, '*\n', { mode: 0o600 })
}

function assertPrivateFolder(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found === undefined)
    throw new HomeFault(
      'HOME_MISSING',
      `${folder} does not exist`,
      'Run `countersign init`, or name it with --home DIR.',
    )
  if (!found.isDirectory())
    throw new HomeFault('HOME_UNSAFE', `${folder} is not a folder`, 'Name another one with --home DIR.')
  assertOnlyOurs(folder, found.uid, found.mode, '700')
}

function assertPrivateFile(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new HomeFault('HOME_MISSING', `${file} does not exist`, 'Run `countersign init`.')
  if (!found.isFile()) throw new HomeFault('HOME_UNSAFE', `${file} is not a file`, 'Delete it.')
  assertOnlyOurs(file, found.uid, found.mode, '600')
}

function assertOnlyOurs(path: string, owner: number, mode: number, wanted: string): void {
  if (process.getuid !== undefined && owner !== process.getuid())
    throw new HomeFault('HOME_UNSAFE', `${path} belongs to another user`, 'Use a home of your own: --home DIR.')
  if ((mode & 0o077) !== 0) {
    const shown = (mode & 0o777).toString(8)
    throw new HomeFault('HOME_UNSAFE', `others may look into ${path} (mode ${shown})`, `chmod ${wanted} ${path}`)
  }
}

export { HomeFault } from './home-fault.ts'
