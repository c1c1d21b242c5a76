import { execFile } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import type { Confinement } from './confinement.ts'
import type { Program } from './spawn.ts'

/** What is started. Its environment is no matter of the sandbox's: it is inherited. */
export type Runnable = Pick<Program, 'command' | 'args' | 'cwd'>

/** Says why programs cannot be confined on this machine, or the path of bubblewrap. */
export type Bubblewrap = { readonly path: string } | { readonly missing: string }

const TRY_MS = 5_000
let known: Promise<Bubblewrap> | undefined

/** Looks for bubblewrap once, and tries it: a kernel may forbid what it needs though the program is there. */
export function findBubblewrap(): Promise<Bubblewrap> {
  return (known ??= look())
}

async function look(): Promise<Bubblewrap> {
  if (process.platform !== 'linux')
    return { missing: `bubblewrap is a program for Linux, and this is ${process.platform}` }
  const path = onPath('bwrap')
  if (path === undefined)
    return { missing: 'bubblewrap is not installed (Debian and Ubuntu: `apt-get install bubblewrap`)' }
  try {
    await promisify(execFile)(path, [...APART, ...SYSTEM(), '--', '/usr/bin/env', 'true'], { timeout: TRY_MS, env: {} })
    return { path }
  } catch (fault) {
    const said = String((fault as { stderr?: string }).stderr ?? fault)
      .trim()
      .split('\n')
      .at(-1)!
    return { missing: `bubblewrap cannot make a sandbox here (${said.slice(0, 160)})` }
  }
}

// Every namespace of its own; nothing of ours but the three streams; no terminal to type into; its end with ours.
const APART = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox']

const SYSTEM = (): string[] => [
  '--ro-bind', '/usr', '/usr',
  ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap((path) => (existsSync(path) ? link(path) : [])),
  // Libraries are found by it, and nothing else of /etc is there: no users, no hosts, no keys.
  ...readable('/etc/ld.so.cache'), ...readable('/etc/alternatives'),
  '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp',
] // prettier-ignore

/** What programs that use the network look up before they do. */
const NETWORK = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl', '/etc/ca-certificates', '/etc/pki']

/** Where a program that is confined finds itself at home: an empty folder in memory. */
const HOME = '/tmp/home'

/**
 * The same program inside bubblewrap: a read-only system, its own package, the declared folders, and nothing else. Its
 * environment is passed on by inheritance, since what stands in arguments everybody on the machine can read.
 */
export function confined<Run extends Runnable>(program: Run, confinement: Confinement, bubblewrap: string): Run {
  const command = isAbsolute(program.command) ? program.command : (onPath(program.command) ?? program.command)
  const reads = [...ownFiles(command, program), ...confinement.read, program.cwd]
  const args = [
    ...APART,
    ...(confinement.network ? ['--share-net'] : []),
    ...SYSTEM(),
    ...(confinement.network ? NETWORK.flatMap(readable) : []),
    '--dir', HOME, '--setenv', 'HOME', HOME,
    ...outermost(reads).flatMap((path) => ['--ro-bind-try', path, path]),
    ...outermost(confinement.write).flatMap((path) => ['--bind-try', path, path]),
...inside(confinement.hidden ?? [], [...reads, ...confinement.write]).flatMap((path) => ['--tmpfs', path]),
        '--chdir', program.cwd,
    '--', command, ...program.args,
  ] // prettier-ignore
  return { ...program, command: bubblewrap, args }
}

/** The files that the program is made of: itself, and for each script among its arguments the packages around it. */
function ownFiles(command: string, { args, cwd }: Runnable): string[] {
  const files = [command, ...args.filter((arg) => !arg.startsWith('-')).map((arg) => resolve(cwd, arg))]
  return files
    .filter(isFile)
    .flatMap((file) => {
      const real = realpathSync(file)
      return [dirnameUnlessSystem(file), dirnameUnlessSystem(real), ...packagesOf(file), ...packagesOf(real)]
    })
    .filter((path) => path !== '')
}

/** For a file of a package: the outermost `node_modules` that holds it, or else its package with what it depends on. */
function packagesOf(file: string): string[] {
  const modules = file.indexOf(`${sep}node_modules${sep}`)
  if (modules > 0) return [file.slice(0, modules + `${sep}node_modules`.length)]
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return SYSTEM_ROOTS.has(folder) ? [] : [folder]
  }
  return []
}

// A file that lies right in one of these gets no folder bound around it: that would hand out all that is in there.
const SYSTEM_ROOTS = new Set(['/', '/home', '/root', '/tmp', '/var', '/etc', '/opt', '/srv', '/mnt'])

function dirnameUnlessSystem(file: string): string {
  const folder = dirname(file)
  return SYSTEM_ROOTS.has(folder) || folder === process.env['HOME'] ? file : folder
}

/** Those of the hidden folders that would be seen otherwise. */
function inside(hidden: readonly string[], bound: readonly string[]): string[] {
  return hidden.filter(
    (path) => existsSync(path) && bound.some((other) => path === other || path.startsWith(`${other}/`)),
  )
}

/** Without what lies inside another one: a folder that is bound twice hides what was bound in it first. */
function outermost(paths: readonly string[]): string[] {
  const sorted = [...new Set(paths)].filter((path) => !path.startsWith('/usr/')).sort()
  return sorted.filter(
    (path) => !sorted.some((other) => other !== path && path.startsWith(other === '/' ? other : `${other}/`)),
  )
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function readable(path: string): string[] {
  return existsSync(path) ? ['--ro-bind', realpathSync(path), path] : []
}

// On a merged /usr these are links; elsewhere they are folders of their own.
function link(path: string): string[] {
  const real = realpathSync(path)
  return real.startsWith('/usr/') ? ['--symlink', real.slice(1), path] : ['--ro-bind', path, path]
}

function onPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => isAbsolute(path) && isFile(path))
}
