import { type Stats, lstatSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'

/** Linux follows 40 links in one path and then says ELOOP (path_resolution(7)). */
const MAX_LINKS = 40

/** Where a path really leads. */
export interface Place {
  /** Without links, `.` and `..`. What does not exist yet is appended to the deepest ancestor that does. */
  readonly real: string
  /** Of the thing itself; undefined where it does not exist. */
  readonly stats: Stats | undefined
  /** Of every folder and file that was met on the way, links not counted. */
  readonly met: readonly Stats[]
}

/** The path has no one meaning. `reached` is the last real folder on the way. */
export interface Astray {
  readonly astray: 'loop' | 'dangling' | 'no-way-up' | 'not-a-folder' | 'process' | 'closed'
  readonly reached: string
}

interface Step {
  readonly real: string
  readonly stats: Stats | undefined
  readonly link: boolean
}

class Lost extends Error {
  readonly where: Astray
  constructor(where: Astray) {
    super(where.astray)
    this.where = where
  }
}

/**
 * Follows an absolute path name by name, as the kernel would, and refuses where another reader could come out elsewhere:
 * `..` after anything but a folder (the kernel leaves a link's target and stops at what is not there, a library that tidies
 * the text first does neither), a link to nothing (who writes to it creates something far away), and `/proc`, whose links
 * mean another thing to each process.
 * Nothing is opened, and nothing is remembered from one call to the next.
 */
export function walk(path: string): Place | Astray {
  const met: Stats[] = []
  const follow = follower(met)
  const steps: Step[] = [{ real: '/', stats: lstatSync('/'), link: false }]
  try {
    for (const name of path.split('/')) {
      const here = steps.at(-1)!
      if (name === '' || name === '.') {
        assertFolder(here)
        continue
      }
      if (name !== '..') {
        steps.push(follow(here, name))
        continue
      }
      if (here.link || here.stats?.isDirectory() !== true) return { astray: 'no-way-up', reached: here.real }
      if (steps.length > 1) steps.pop()
    }
  } catch (fault) {
    if (fault instanceof Lost) return fault.where
    throw fault
  }
  const end = steps.at(-1)!
  return { real: end.real, stats: end.stats, met }
}

function follower(met: Stats[]): (from: Step, name: string) => Step {
  let links = 0
  return follow

  function follow(from: Step, name: string): Step {
    const real = from.real === '/' ? `/${name}` : `${from.real}/${name}`
    if (from.stats === undefined) return { real, stats: undefined, link: false }
    assertFolder(from)
    if (real === '/proc') throw new Lost({ astray: 'process', reached: real })
    const stats = look(real, from.real)
    if (stats?.isSymbolicLink() !== true) {
      if (stats !== undefined) met.push(stats)
      return { real, stats, link: false }
    }
    if (++links > MAX_LINKS) throw new Lost({ astray: 'loop', reached: from.real })
    return { ...target(read(real, from.real), from), link: true }
  }

  function target(text: string, from: Step): Step {
    let here: Step = text.startsWith('/') ? { real: '/', stats: lstatSync('/'), link: false } : from
    for (const name of text.split('/')) {
      assertFolder(here)
      if (name === '' || name === '.') continue
      if (name === '..') {
        const up = dirname(here.real)
        here = { real: up, stats: lstatSync(up), link: false }
        continue
      }
      const next = follow(here, name)
      if (next.stats === undefined) throw new Lost({ astray: 'dangling', reached: here.real })
      here = next
    }
    return here
  }
}

// `file/`, `file/.` and `file/x` are nothing to the kernel. What does not exist yet may become a folder.
function assertFolder({ real, stats }: Step): void {
  if (stats?.isDirectory() === false) throw new Lost({ astray: 'not-a-folder', reached: real })
}

function look(path: string, reached: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // No permission, a disk fault, a name that is too long: what cannot be looked at cannot be judged.
    throw new Lost({ astray: 'closed', reached })
  }
}

function read(link: string, reached: string): string {
  try {
    const text = readlinkSync(link)
    // Node shows every byte that is not UTF-8 as this one character, and would have us follow another name than the kernel.
    if (!text.includes('\ufffd')) return text
  } catch {
    // Swapped or closed since it was looked at.
  }
  throw new Lost({ astray: 'closed', reached })
}
