import type { ScopeKind } from '../tool/profile.ts'
import { notPlain } from './plain-text.ts'
import { type Trouble, unreadable, unsafe } from './trouble.ts'

const MAX_NAME_BYTES = 1024

/**
 * A repository, table or record as it was written: names are compared as they are, so `Users` and `users` are two. Policies
 * should therefore permit the names that they mean, and not forbid the ones that they do not.
 */
export function nameOf(
  text: string,
  kind: Extract<ScopeKind, 'repo' | 'table' | 'record' | 'literal'>,
): string | Trouble {
  if (text === '') return unreadable('it is empty')
  const wrong = notPlain(text, MAX_NAME_BYTES) ?? misnamed(text, kind)
  return wrong === undefined ? text : unsafe(wrong)
}

function misnamed(text: string, kind: ScopeKind): string | undefined {
  // Servers build a URL or a folder of it: `owner/../other` would be another repository by the time it is used.
  if (kind === 'repo' && (/[\\%?#]/.test(text) || text.split('/').some((part) => /^\.{0,2}$/.test(part)))) {
    return 'it holds dots, an empty part or an encoded character in the place of a name'
  }
  // Servers put it in a statement: quoted or commented text is a name to one reader and SQL to the next.
  if (kind === 'table' && /["'`;()[\]\\]|--|\/\*/.test(text)) return 'it holds a quotation mark or other SQL'
  return undefined
}
