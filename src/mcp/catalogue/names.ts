import { digest } from '../../words/digest.ts'

/** What every model provider and client takes: letters, digits, `_` and `-`, first a letter or `_`, 64 at most. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const LENGTH = 64
const DIGITS = 12
/** A name that ends like this was made here, or looks as if, and then it gets digits of its own. */
const MARKED = /_[0-9a-f]{12}$/
/** Names of servers as the configuration takes them: no `__` in them and no `_` at their ends. */
const SERVER = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-])){0,39}$/

export type Naming = 'prefixed' | 'bare'

/**
 * The name under which a tool or prompt is shown: `server__name` where that is a name that everybody takes, otherwise a
 * readable beginning and twelve digits of a digest. It depends on the two names alone, so that nothing else that is
 * connected can change it; and no server can choose a name that is exported like a tool of another one. `bare` leaves the
 * server out. The way back goes by a table, never by splitting.
 */
export function exportedName(server: string, name: string, naming: Naming): string {
  const plain = naming === 'bare' ? name : `${server}__${name}`
  // Prefixed names always have `__` in them, and bare ones never: neither can pass for the other.
  const own = naming === 'bare' ? !name.includes('__') : SERVER.test(server)
  return own && PLAIN.test(plain) && !MARKED.test(plain) ? plain : markedName(server, name, naming)
}

/** The same with digits of its own in any case: no other tool is ever exported under that one. */
export function markedName(server: string, name: string, naming: Naming): string {
  const mark = digest(JSON.stringify([naming, server, name])).slice(0, DIGITS)
  const readable = naming === 'bare' ? cleaned(name, 'tool') : `${prefix(server)}__${cleaned(name, 'tool')}`
  const start = /^[A-Za-z_]/.test(readable) ? readable : `_${readable}`
  return `${start.slice(0, LENGTH - DIGITS - 1).replace(/_+$/, '')}_${mark}`
}

function prefix(server: string): string {
  return SERVER.test(server) ? server : cleaned(server, 'server').slice(0, 24)
}

function cleaned(name: string, instead: string): string {
  const clean = name.replaceAll(/[^A-Za-z0-9-]+/g, '_').replaceAll(/^_+|_+$/g, '')
  return clean === '' ? instead : clean
}
