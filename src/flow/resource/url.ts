import { notPlain } from './plain-text.ts'
import { type Trouble, unreadable, unsafe } from './trouble.ts'

const MAX_URL_BYTES = 8192
const MAX_HOST_BYTES = 300

/**
 * A URL argument as the URL that is meant (WHATWG URL Standard): `http` and `https` only, host in lower-case ASCII, IP
 * addresses in their usual form, dots resolved, default port and fragment left out. What other parsers read differently
 * (a backslash, one slash, credentials, encoded separators) is refused, since one of them sits in the upstream server.
 */
export function urlOf(text: string): string | Trouble {
  const url = parse(text)
  if (!(url instanceof URL)) return url
  url.hash = ''
  return url.href
}

/** A host argument, `name`, `name:port` or a whole URL, as `host` or `host:port`. The default port of a URL is left out. */
export function hostOf(text: string): string | Trouble {
  if (text.includes('://')) {
    const url = parse(text)
    return url instanceof URL ? url.host : url
  }
  if (text === '') return unreadable('it is empty')
  const wrong = notPlain(text, MAX_HOST_BYTES)
  if (wrong !== undefined) return unsafe(wrong)
  if (/[/?#\\@]/.test(text)) return unsafe('it is not a bare host')
  const url = parse(`http://${text}/`)
  if (!(url instanceof URL)) return url
  // The port that the parser drops as the default of http is one that the caller wrote.
  return url.port === '' && /:0*80$/.test(text) ? `${url.host}:80` : url.host
}

/** What of a URL may go on the record: a query often carries a token. */
export function withoutQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : `${url.slice(0, at)}?…`
}

function parse(text: string): URL | Trouble {
  if (text === '') return unreadable('it is empty')
  const wrong = notPlain(text, MAX_URL_BYTES) ?? misspelt(text)
  if (wrong !== undefined) return unsafe(wrong)
  const url = URL.parse(text)
  if (url === null) return unreadable('it is not a URL')
  const host = misread(url.hostname)
  if (host !== undefined) return unsafe(host)
  // An encoded dot or separator, once or many times over, changes the path for whoever decodes it.
  if (/%(?:25)*(?:2e|2f|5c|7f|[01][0-9a-f])/i.test(rawPath(text)))
    return unsafe('its path holds an encoded dot or separator')
  url.hostname = plainAddress(url.hostname)
  return url
}

function misspelt(text: string): string | undefined {
  if (text.includes('\\')) return 'it holds a backslash, which some readers take for a separator'
  if (!/^https?:\/\//i.test(text)) return 'it is not an http or https URL'
  const authority = authorityOf(text)
  if (authority === '') return 'it names no host'
  if (authority.includes('@')) return 'it holds credentials or a name before the host'
  if (authority.includes('%')) return 'its host holds an encoded character'
  // `ⓔvil.test` and `１２７.0.0.1` become ASCII for those who normalise, and for no one else.
  if (authority.match(/[^\u0000-\u007f]/gu)?.some(foldsToAscii) === true) {
    return 'its host holds a character that only looks like a plain one'
  }
  return undefined
}

function misread(host: string): string | undefined {
  if (host.endsWith('.')) return 'its host ends with a dot, and would be another name for the same host'
  if (host.startsWith('-')) return 'its host begins with a dash and could be read as an option'
  return undefined
}

function foldsToAscii(character: string): boolean {
  return /[\u0000-\u007f\u3002]/.test(character.normalize('NFKC'))
}

function authorityOf(text: string): string {
  return /^[^:]*:\/\/([^/?#]*)/.exec(text)?.[1] ?? ''
}

function rawPath(text: string): string {
  return /^[^:]*:\/\/[^/?#]*([^?#]*)/.exec(text)?.[1] ?? ''
}

/** An IPv4 address in the guise of IPv6 (RFC 4291 §2.5.5.2) reaches the IPv4 host, so it is named as that. */
function plainAddress(host: string): string {
  const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host)
  if (mapped === null) return host
  const bits = (Number.parseInt(mapped[1]!, 16) << 16) | Number.parseInt(mapped[2]!, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}
