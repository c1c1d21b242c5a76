import { lookup } from 'node:dns/promises'
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { SafeFetchFault } from './fault.ts'
import { assertAddress, hostOf, type Reach } from './reach.ts'

/** Every address of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

const MOST_ADDRESSES = 32
const MOST_TRIED = 3

export interface ConnectRules {
  readonly reach: Reach
  readonly resolve: Resolve
  readonly connectMs: number
  /** PEM texts to trust besides the system's. */
  readonly ca?: readonly string[]
}

/**
 * Connects to nothing but a permitted address. A name is looked up once, here; one bad answer spoils all of them; what is
 * dialled is one of the addresses that were judged, so that a second look-up cannot lead elsewhere; and what the socket says it
 * is connected to is judged again.
 */
export function guardedConnector(rules: ConnectRules): buildConnector.connector {
  const dial = buildConnector({
    timeout: rules.connectMs,
    allowH2: false,
    ...(rules.ca === undefined ? {} : { ca: [...rules.ca] }),
  })
  return (options, callback) => {
    const host = options.hostname
    connect(options, rules, dial).then(
      (socket) => callback(null, socket),
      (fault: unknown) =>
        callback(fault instanceof Error ? fault : new SafeFetchFault('UNREACHABLE', `${host} cannot be reached`), null),
    )
  }
}

async function connect(
  options: buildConnector.Options,
  { reach, resolve }: ConnectRules,
  dial: buildConnector.connector,
): Promise<Socket> {
  const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`)
  const host = hostOf(url)
  const addresses = await addressesOf(host, resolve)
  for (const address of addresses) assertAddress(address, url, reach)
  let last: unknown
  for (const address of addresses.slice(0, MOST_TRIED)) {
    const dialled = new Promise<Socket>((done, fail) => {
      // The name goes into the certificate check; the address is what is dialled.
      const servername = /^[\d.]+$|:/.test(host) ? '' : host
      const pinned = { ...options, hostname: address, ...(options.protocol === 'https:' && { servername }) }
      dial(pinned, (...[fault, socket]) => (fault === null ? done(socket) : fail(fault)))
    })
    try {
      const socket = await dialled
      try {
        assertAddress(socket.remoteAddress ?? '', url, reach)
        return socket
      } catch (fault) {
        socket.destroy()
        throw fault
      }
    } catch (fault) {
      if (fault instanceof SafeFetchFault) throw fault
      last = fault
    }
  }
  throw last ?? new SafeFetchFault('UNREACHABLE', `${host} has no address`)
}

async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[]> {
  if (/^[\d.]+$|:/.test(host)) return [host]
  const found = await resolve(host)
  if (found.length > MOST_ADDRESSES) throw new SafeFetchFault('ADDRESS_REFUSED', `${host} has too many addresses`)
  return found
}
