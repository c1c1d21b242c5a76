import { accessSync, constants, existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { openHome, readToken } from '../../gateway/home.ts'
import type { Context } from '../context.ts'
import { fail, failOf, type Finding, ok, warn } from './finding.ts'

export function examineNode(): Finding {
  const major = Number(process.versions.node.split('.')[0])
  return major >= 24
    ? ok('node', process.version)
    : fail('node', `${process.version} is too old`, 'Install Node 24 or newer.')
}

export async function examineConfig(context: Context): Promise<Finding[]> {
  try {
    const config = await context.config()
    return [ok('configuration', `${config.file}, ${config.servers.length} servers`), ...examinePrograms(config)]
  } catch (fault) {
    return [failOf('configuration', fault)]
  }
}

/** Programs that are named by a path have to be there; the others are looked up on the PATH when they are started. */
function examinePrograms({ servers, policy }: Config): Finding[] {
  const findings: Finding[] = []
  for (const { spec } of servers) {
    const { reach } = spec
    if (reach.kind !== 'stdio') continue
    if (!existsSync(reach.cwd))
      findings.push(fail(`server ${spec.name}`, `its folder ${reach.cwd} does not exist`, 'Make it, or mend `cwd`.'))
    else if (reach.command.includes('/') && !existsSync(reach.command))
      findings.push(fail(`server ${spec.name}`, `${reach.command} does not exist`, 'Install it, or mend `command`.'))
  }
  const policies = existsSync(policy) ? readdirSync(policy).filter((it) => it.endsWith('.cedar')) : []
  findings.push(
    policies.length > 0
      ? ok('policy', `${policies.length} files in ${policy}`)
      : fail(
          'policy',
          `no *.cedar file in ${policy}, so every call is refused`,
          'Write one; `countersign init` makes one to begin with.',
        ),
  )
  return findings
}

export function examineHome(folder: string): Finding[] {
  if (!existsSync(folder))
    return [warn('home', `${folder} does not exist yet`, 'The first start makes it; or run `countersign init`.')]
  try {
    const home = openHome(folder)
    const closed = examineAccess(folder)
    if (closed !== undefined) return [closed]
    readToken(home)
    return [ok('home', `${folder}, closed to others`), ...examineKeys(join(folder, 'keys'))]
  } catch (fault) {
    return [failOf('home', fault)]
  }
}

/** A ledger that cannot be opened for want of a permission is whole, and must not be taken for one that was tampered with. */
function examineAccess(folder: string): Finding | undefined {
  const paths = [folder, ...readdirNames(folder).map((it) => join(folder, it))]
  for (const path of paths) {
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    try {
      accessSync(path, constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0))
    } catch (fault) {
      const { code } = fault as NodeJS.ErrnoException
      // A file that went away meanwhile, as the ones beside an open ledger do.
      if (code === 'ENOENT') continue
      const fix =
        code === 'EROFS'
          ? 'Mount its file system for writing, or put the home elsewhere: --home DIR.'
          : `chmod -R ${isReadable(path, isFolder) ? 'u+w' : 'u+rwX'} ${folder}`
      return fail('home', `${path} cannot be read and written (${code ?? 'fault'})`, fix)
    }
  }
  return undefined
}

function isReadable(path: string, isFolder: boolean): boolean {
  try {
    accessSync(path, constants.R_OK | (isFolder ? constants.X_OK : 0))
    return true
  } catch {
    return false
  }
}

/** A folder that cannot be looked into is found out by asking for access to it. */
function readdirNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function examineKeys(folder: string): Finding[] {
  if (!existsSync(folder)) return [ok('keys', 'none yet; the first start makes them')]
  const open = readdirSync(folder).filter(
    (it) => !it.includes('.pub') && (lstatSync(join(folder, it)).mode & 0o077) !== 0,
  )
  return open.length === 0
    ? [ok('keys', 'closed to others')]
    : [
        fail(
          'keys',
          `others may read ${open.join(', ')}`,
          `chmod 600 ${open.map((it) => join(folder, it)).join(' ')}, and think about a new key.`,
        ),
      ]
}
