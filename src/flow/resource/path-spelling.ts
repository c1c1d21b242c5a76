import { notPlain } from './plain-text.ts'

/** Of the whole path and of one name in it: what Linux takes (PATH_MAX, NAME_MAX). */
const MAX_PATH_BYTES = 4096
const MAX_NAME_BYTES = 255

/** Slashes and backslashes that are not: they look like a separator, or a careless reader folds them into one. */
const FALSE_SEPARATOR = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c]/u

/**
 * Why a path argument is not taken, or undefined. The upstream server reads the same text by rules that we do not know:
 * it may decode `%2e`, expand `~`, cut spaces and quotes, turn `\` into `/`. Each of these would make it open another
 * file than the one that was judged, so a text on which such readers differ names nothing.
 * Nothing is normalised: the names in NFC and in NFD are two names, as they are to Linux.
 */
export function misspelt(path: string): string | undefined {
  const problem = notPlain(path, MAX_PATH_BYTES)
  if (problem !== undefined) return problem
  if (path.includes('\\')) return 'it holds a backslash, which some readers take for a separator'
  // Any escape: `a%6cias` is a new file to us, and to a server that decodes it the link `alias`.
  if (/%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i.test(path)) return 'it holds a percent-encoded character'
  if (path.startsWith('~')) return 'it begins with a tilde, which some readers expand to a home folder'
  if (path.startsWith('//')) return 'it begins with two slashes, which some readers take for a host'
  if (/^(?:[a-z][a-z0-9+.-]*:[/\\]|file:)/i.test(path)) return 'it is a URL or begins with a drive letter'
  if (/^["'`]|["'`]$/.test(path)) return 'it begins or ends with a quotation mark, which some readers cut off'
  if (FALSE_SEPARATOR.test(path)) return 'it holds a character that looks like a separator and is none'
  for (const name of path.split('/')) {
    const wrong = misnamed(name)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function misnamed(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return undefined
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `a name in it is longer than ${MAX_NAME_BYTES} bytes`
  // Windows cuts them off, and so do archives and shares made there.
  if (name.endsWith('.') || name.endsWith(' '))
    return 'a name in it ends with a dot or a space, which some readers cut off'
  const folded = name.normalize('NFKC')
  if (folded === '.' || folded === '..' || folded.includes('/') || folded.includes('\\')) {
    return 'a name in it turns into dots or a separator where a reader normalises it'
  }
  return undefined
}
