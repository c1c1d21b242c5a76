import { constants, type Stats } from 'node:fs'
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { isNoteName } from './path.ts'
import { type Answer, given, refused, refusedBy } from './problem.ts'
import { type Whereabouts, whereaboutsOfPlatform } from './whereabouts.ts'

/** The one folder whose notes may be read. `path` is its real path and never leaves this process; `name` may be shown. */
export interface Root {
  readonly name: string
  readonly path: string
  readonly whereabouts: Whereabouts
}

/** Throws an Error with a sentence for the operator when `folder` cannot serve as the notes folder. */
export async function openRoot(folder: string, whereabouts: Whereabouts = whereaboutsOfPlatform): Promise<Root> {
  const path = await realpath(folder).catch(() => {
    throw new Error(`The notes folder ${folder} does not exist or cannot be reached.`)
  })
  const root = { name: basename(path) || path, path, whereabouts }
  const opened = await openFolder(root, [])
  if (!opened.ok) throw new Error(`${folder} is not a folder that can be opened for reading (${opened.problem.code}).`)
  await opened.value.close()
  return root
}

/** What is wrong with this file as a note, by its kind alone. */
function faultOfKind(stats: Stats): Answer<never> | undefined {
  if (stats.isSymbolicLink()) return refused('link_refused')
  if (stats.isDirectory()) return refused('is_directory')
  if (!stats.isFile()) return refused('not_regular')
  // A real path says nothing about hard links: the same file may lie outside under another name.
  if (stats.nlink > 1) return refused('hard_link_refused')
  return undefined
}

/**
 * Looks before opening, name by name, so that the caller gets the right sentence, so that no device is ever opened, and so that a
 * link is refused before what it points to is touched (or else "not found" would tell what exists outside).
 * It protects nothing by itself: openNote() decides on the open file.
 */
export async function lookAt(root: Root, names: readonly string[]): Promise<Answer<void>> {
  const last = names.length - 1
  const note = isNoteName(names[last] ?? '')
  try {
    for (const depth of names.keys()) {
      const stats = await lstat(join(root.path, ...names.slice(0, depth + 1)))
      if (depth === last) return faultOfLast(stats, note) ?? given(undefined)
      if (stats.isSymbolicLink()) return refused('link_refused')
      if (!stats.isDirectory()) return refused('not_found')
    }
    return refused('not_found')
  } catch (fault) {
    return note ? refusedBy(fault) : refused('wrong_type')
  }
}

function faultOfLast(stats: Stats, note: boolean): Answer<never> | undefined {
  if (stats.isDirectory()) return refused('is_directory')
  return note ? faultOfKind(stats) : refused('wrong_type')
}

// Without O_NONBLOCK, opening a pipe that nobody writes to would hang for ever.
const careful = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Opens a note and then judges what was opened: a regular file with one name, which lies at exactly this path below the root.
 * The caller closes the handle.
 */
export async function openNote(
  root: Root,
  names: readonly string[],
): Promise<Answer<{ readonly handle: FileHandle; readonly bytes: number }>> {
  if (!isNoteName(names.at(-1) ?? '')) return refused('wrong_type')
  const opened = await openAt(root, names, careful)
  if (!opened.ok) return opened
  const handle = opened.value
  try {
    const stats = await handle.stat()
    const fault = faultOfKind(stats)
    if (fault === undefined) return given({ handle, bytes: stats.size })
    await handle.close()
    return fault
  } catch (fault) {
    await handle.close()
    return refusedBy(fault)
  }
}

/** Opens a folder below the root, or the root itself when `names` is empty. The caller closes the handle. */
export function openFolder(root: Root, names: readonly string[]): Promise<Answer<FileHandle>> {
  return openAt(root, names, careful | constants.O_DIRECTORY)
}

async function openAt(root: Root, names: readonly string[], flags: number): Promise<Answer<FileHandle>> {
  const path = join(root.path, ...names)
  let handle: FileHandle | undefined
  try {
    handle = await open(path, flags)
    // O_NOFOLLOW speaks of the last name only. A parent that is, or has just become, a link shows here.
    if ((await root.whereabouts.of(handle, path)) === path) return given(handle)
    await handle.close()
    return refused('moved')
  } catch (fault) {
    await handle?.close()
    return refusedBy(fault)
  }
}
