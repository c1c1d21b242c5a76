import { type Answer, given, refused } from './problem.ts'
import type { Limits } from './rules.ts'

// U+FFFD is refused because Node shows every byte that is not UTF-8 as this one character: two names would become one.
const unprintable = /[\p{Cc}\ufffd]/u

/** Why a file or folder of this name is never part of a note's path; undefined when it may be. */
export function faultOfName(name: string): string | undefined {
  if (name === '') return 'It must not hold an empty name.'
  if (name === '.' || name === '..') return 'It must not hold . or .. as a name.'
  if (name.startsWith('.')) return 'Names that begin with a dot are hidden.'
  if (name.endsWith('.') || name.endsWith(' ')) return 'Names must not end with a dot or a space.'
  if (name.includes('\\')) return 'Names are separated by / and must not hold a backslash.'
  if (!name.isWellFormed() || unprintable.test(name)) return 'It must not hold control characters or broken Unicode.'
  return undefined
}

export function isNoteName(name: string): boolean {
  return name.endsWith('.md')
}

/**
 * Splits a caller's path into names, by its text alone: nothing is decoded, folded or tidied, so that a note has one spelling.
 * Problems: `path_invalid`.
 */
export function namesIn(path: string, limits: Limits): Answer<readonly string[]> {
  if (Buffer.byteLength(path) > limits.path_bytes)
    return refused('path_invalid', `It may be at most ${limits.path_bytes} bytes long.`)
  if (path === '') return refused('path_invalid', 'It is empty.')
  if (path.startsWith('/')) return refused('path_invalid', 'It must be relative to the notes folder.')
  const names = path.split('/')
  for (const name of names) {
    const fault = faultOfName(name)
    if (fault !== undefined) return refused('path_invalid', fault)
  }
  if (names.length - 1 > limits.folder_depth)
    return refused('path_invalid', `It may lead through at most ${limits.folder_depth} folders.`)
  return given(names)
}
