import { opendir } from 'node:fs/promises'
import { join } from 'node:path'

import { faultOfName, isNoteName, namesIn } from './path.ts'
import { type Answer, type ProblemCode, given, refusedBy } from './problem.ts'
import { openFolder, type Root } from './root.ts'
import type { Limits } from './rules.ts'

/** What a walk meets: a note to read, something that is passed over and why, or the bound at which the walk gives up. */
export type Met =
  | { readonly kind: 'note'; readonly names: readonly string[] }
  | { readonly kind: 'skipped'; readonly code: ProblemCode }
  | { readonly kind: 'stopped' }

type Ahead =
  | { readonly kind: 'note'; readonly names: readonly string[] }
  | { readonly kind: 'folder'; readonly names: readonly string[] }
  | { readonly kind: 'skipped'; readonly names: readonly string[]; readonly code: ProblemCode }

/** Meets all that lies below the root in the order of the paths' code units, whatever order the file system has. */
export async function* walk(root: Root, limits: Limits, signal: AbortSignal): AsyncGenerator<Met, void, void> {
  const ahead: Ahead[] = [{ kind: 'folder', names: [] }]
  let room = limits.entries_per_search
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    signal.throwIfAborted()
    if (next.kind !== 'folder') {
      yield next
    } else if (next.names.length > limits.folder_depth) {
      yield { kind: 'skipped', code: 'too_deep' }
    } else {
      const listed = await entriesOf(root, next.names, room, limits, signal)
      if (!listed.ok) {
        yield { kind: 'skipped', code: listed.problem.code }
      } else if (listed.value.count > room) {
        // Which entries of a folder come first is up to the file system: half a folder would be a different half each time.
        yield { kind: 'stopped' }
        return
      } else {
        room -= listed.value.count
        ahead.push(...listed.value.entries.toSorted(lastPathFirst))
      }
    }
  }
}

/** Counts every entry, also those that can hold no note. Stops reading as soon as there are more than `room`. */
async function entriesOf(
  root: Root,
  names: readonly string[],
  room: number,
  limits: Limits,
  signal: AbortSignal,
): Promise<Answer<{ readonly entries: readonly Ahead[]; readonly count: number }>> {
  const opened = await openFolder(root, names)
  if (!opened.ok) return opened
  await using handle = opened.value
  const entries: Ahead[] = []
  let count = 0
  try {
    const folder = await opendir(root.whereabouts.listing(handle, join(root.path, ...names)))
    for await (const entry of folder) {
      signal.throwIfAborted()
      count += 1
      if (count > room) break
      if (faultOfName(entry.name) !== undefined) continue
      const at = [...names, entry.name]
      if (entry.isDirectory()) entries.push({ kind: 'folder', names: at })
      else if (entry.isSymbolicLink()) entries.push({ kind: 'skipped', names: at, code: 'link_refused' })
      else if (!isNoteName(entry.name)) continue
      else if (!namesIn(at.join('/'), limits).ok) entries.push({ kind: 'skipped', names: at, code: 'path_invalid' })
      else if (entry.isFile()) entries.push({ kind: 'note', names: at })
      else entries.push({ kind: 'skipped', names: at, code: 'not_regular' })
    }
    return given({ entries, count })
  } catch (fault) {
    return refusedBy(fault)
  }
}

// A folder sorts with the / that follows it in the paths of its notes: a-b.md, a/x.md, a.md would else come out of order.
function lastPathFirst(one: Ahead, other: Ahead): number {
  const [left, right] = [sortingName(one), sortingName(other)]
  return left < right ? 1 : left > right ? -1 : 0
}

function sortingName(entry: Ahead): string {
  return (entry.names.at(-1) ?? '') + (entry.kind === 'folder' ? '/' : '')
}
