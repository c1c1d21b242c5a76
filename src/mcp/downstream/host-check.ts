// A page in a browser can reach a server on this machine under a name of its own (DNS rebinding); the browser then says
// so in Host and Origin, which a page cannot set. Both are asked on every route.
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/

/** Says whether a request may have been meant for us, by its Host and Origin headers. */
export type HostCheck = (host: string | undefined, origin: string | undefined) => boolean

export function hostCheck(allowedHosts: readonly string[], allowedOrigins: readonly string[]): HostCheck {
  const hosts = new Set([...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())])
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  // Clients say the same thing on every request.
  let last = ''
  return (host, origin) => {
    if (host === undefined) return false
    if (host !== last) {
      const name = HOST.exec(host.toLowerCase())?.[1]
      if (name === undefined || !hosts.has(name)) return false
      last = host
    }
    return origin === undefined || originAllowed(origin.toLowerCase(), host.toLowerCase(), origins)
  }
}

// `null` is what sandboxed frames and local files send: it is nobody's origin.
function originAllowed(origin: string, host: string, origins: ReadonlySet<string>): boolean {
  if (origin === 'null') return false
  return origins.has(origin) || origin === `http://${host}` || origin === `https://${host}`
}

/** Addresses on which nobody but this machine can reach us. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
