import { isLinkLocal, isLoopback, isPublic } from './address.ts'
import { SafeFetchFault } from './fault.ts'

/** Where a fetch may lead, beyond public hosts by https on the ports below. */
export interface Reach {
  /** This machine's loopback too, on any port and without TLS: only where the operator runs what is asked about on it. */
  readonly loopback: boolean
  /** `host` or `host:port` that the operator named: may be private or on another port, still by https. */
  readonly hosts: readonly string[]
}

export const publicOnly: Reach = Object.freeze({ loopback: false, hosts: Object.freeze([]) })

const PORTS: ReadonlySet<string> = new Set(['', '8443', '9443'])

/** Throws a SafeFetchFault where the URL may not be dialled, whatever its host resolves to. */
export function assertUrl(url: URL, reach: Reach): void {
  const local = reach.loopback && isLocalName(hostOf(url))
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local))
    throw new SafeFetchFault('URL_REFUSED', `${where(url)} is not an https URL`)
  if (url.username !== '' || url.password !== '')
    throw new SafeFetchFault('URL_REFUSED', `the URL for ${where(url)} holds credentials`)
  if (!PORTS.has(url.port) && !local && !isNamed(url, reach))
    throw new SafeFetchFault('URL_REFUSED', `${where(url)} is on a port that nobody allowed`)
  // A literal address is connected to without a look-up, so it is judged here too.
  const host = hostOf(url)
  if (/^[\d.]+$|:/.test(host)) assertAddress(host, url, reach)
}

/** Throws a SafeFetchFault where this address may not be connected to for that URL. */
export function assertAddress(address: string, url: URL, reach: Reach): void {
  if (isPublic(address)) return
  if (isLoopback(address) && reach.loopback && isLocalName(hostOf(url))) return
  if (isNamed(url, reach) && !isLinkLocal(address)) return
  throw new SafeFetchFault('ADDRESS_REFUSED', `${where(url)} leads to an address that is not public`)
}

/** The host without the brackets of an IPv6 literal, without a final dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

function isLocalName(host: string): boolean {
  // RFC 6761 §6.3: `localhost` is loopback everywhere. Any other name that resolves there is somebody's trick.
  return host === 'localhost' || isLoopback(host)
}

function isNamed(url: URL, { hosts }: Reach): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return hosts.some((host) => host === url.hostname || host === `${url.hostname}:${port}`)
}

function where(url: URL): string {
  return url.host === '' ? 'it' : url.host.slice(0, 255)
}
