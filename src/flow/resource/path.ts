import { type Stats, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute } from 'node:path'
import type { Access } from '../tool/profile.ts'
import { misspelt } from './path-spelling.ts'
import type { Root, Scope } from './scoped.ts'
import { type Trouble, outside, unreadable, unsafe } from './trouble.ts'
import { type Astray, type Place, walk } from './walk.ts'

/** The declared roots and the gateway's own files as they lie at this moment; made anew for every call. */
export interface Ground {
  readonly roots: readonly { readonly name: string; readonly path: string; readonly real: string | undefined }[]
  readonly guarded: readonly { readonly real: string; readonly stats: Stats | undefined }[]
}

export function survey(roots: readonly Root[], protectedPaths: readonly string[]): Ground {
  return {
    roots: roots.map(({ name, path }) => ({ name, path, real: realOf(path) })),
    guarded: protectedPaths.map((path) => {
      const stats = statsOf(path)
      return { real: realOrFuture(path, stats), stats }
    }),
  }
}

export type Located = Pick<Scope, 'value' | 'within' | 'hardLinked'>

/**
 * One path argument as a real place inside a declared root. `base` names the root from which a relative path starts.
 * Where a path leads out, the answer is the same whether or not there is anything out there.
 */
export function locate(text: string, access: Access, base: string | undefined, ground: Ground): Located | Trouble {
  if (text === '') return unreadable('it is empty')
  const wrong = misspelt(text)
  if (wrong !== undefined) return unsafe(wrong)
  const start = text.startsWith('/') ? '' : baseOf(base, ground)
  if (typeof start !== 'string') return start

  const place = walk(start === '' ? text : `${start}/${text}`)
  const real = 'astray' in place ? place.reached : place.real
  const within = ground.roots.filter((root) => holds(root.real, real)).map((root) => root.name)
  if (within.length === 0) return outside('it lies in none of the declared roots')
  if ('astray' in place) return explain(place)
  if (isOwn(place, access, ground)) return outside("it belongs to the gateway's own files, which no policy opens")
  return thing(place, access, within)
}

function thing({ real, stats }: Place, access: Access, within: readonly string[]): Located | Trouble {
  if (stats === undefined || stats.isDirectory()) return { value: real, within }
  if (!stats.isFile()) return unsafe('it is a device, a socket or a pipe')
  if (stats.nlink < 2) return { value: real, within }
  // A second name may lie outside every root, and nothing tells where: what is written here changes it there.
  if (access === 'write') return unsafe('the file has a second name (a hard link), and a write would change both')
  return { value: real, within, hardLinked: true }
}

function baseOf(base: string | undefined, ground: Ground): string | Trouble {
  if (base === undefined) return unreadable('it is relative, and the tool profile names no base for it')
  const root = ground.roots.find(({ name }) => name === base)
  return root?.path ?? unreadable('it is relative, and the base in the tool profile is not a declared root')
}

/** By whole names: `/srv/data` does not hold `/srv/data-other` (CVE-2025-53110). */
function holds(folder: string | undefined, path: string): boolean {
  if (folder === undefined) return false
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

/** Is it one of the gateway's own files, or what holds them? */
export function isOwn({ real, met }: Place, access: Access, { guarded }: Pick<Ground, 'guarded'>): boolean {
  return guarded.some((own) => {
    if (holds(own.real, real)) return true
    // Whoever deletes, moves or searches a folder reaches all that is in it; its list of names gives nothing away.
    if (access !== 'list' && holds(real, own.real)) return true
    // By identity too: another spelling, a hard link or a second mount leads to the same thing.
    return met.some(({ dev, ino }) => dev === own.stats?.dev && ino === own.stats.ino)
  })
}

function explain({ astray }: Astray): Trouble {
  switch (astray) {
    case 'loop':
      return unsafe('it leads through links that never end')
    case 'dangling':
      return unsafe('it leads through a link to something that does not exist')
    case 'no-way-up':
      return unsafe('it goes up from a link or from what is no folder, and readers differ on where that leads')
    case 'process':
      return unsafe('it leads into /proc, where names mean another thing to each process')
    case 'not-a-folder':
      return unreadable('it goes through a file as if that were a folder')
    case 'closed':
      return unreadable('the gateway may not look at it, or its names are too long')
    default:
      return astray satisfies never
  }
}

// Asked first, since most of the cost of a missing file is the exception.
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function realOf(path: string, stats = statsOf(path)): string | undefined {
  if (stats === undefined) return undefined
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Of a path that need not exist yet (a lock file is written later): the real folder above it, and the rest. */
function realOrFuture(path: string, stats = statsOf(path)): string {
  const above = dirname(path)
  const real = realOf(path, stats)
  if (real !== undefined || above === path) return real ?? path
  const folder = realOrFuture(above)
  return folder === '/' ? `/${basename(path)}` : `${folder}/${basename(path)}`
}

/** @throws TypeError where a root or an own file is not given as an absolute path, or two roots share a name. */
export function assertGround(roots: readonly Root[], protectedPaths: readonly string[]): void {
  for (const path of [...roots.map((root) => root.path), ...protectedPaths]) {
    if (!isAbsolute(path)) throw new TypeError(`not an absolute path: ${path}`)
  }
  const names = new Set(roots.map((root) => root.name))
  if (names.size !== roots.length) throw new TypeError('two roots have the same name')
}
