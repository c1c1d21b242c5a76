import { Agent, fetch as undiciFetch, type Response as UndiciResponse } from 'undici'
import { guardedConnector, type Resolve, systemResolve } from './connect.ts'
import { SafeFetchFault } from './fault.ts'
import { assertUrl, publicOnly, type Reach } from './reach.ts'

export interface SafeFetchRules {
  readonly reach?: Reach
  /** Of the whole exchange with all its redirects, in milliseconds. 10 s where nothing is said. */
  readonly timeoutMs?: number
  /** The largest body, in bytes, as it comes out of the connection. 256 KiB where nothing is said. */
  readonly maxBytes?: number
  readonly maxRedirects?: number
  /** Media types that a successful answer may have; any where nothing is said. */
  readonly contentTypes?: readonly string[]
  readonly resolve?: Resolve
  readonly ca?: readonly string[]
}

export interface SafeRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>> | Headers
  readonly body?: string | URLSearchParams | null
  readonly signal?: AbortSignal
}

/** A fetch for addresses that somebody else named. Rejects with a SafeFetchFault, or with the reason of the request's signal. */
export type SafeFetch = (url: string | URL, request?: SafeRequest) => Promise<Response>

// Whoever answers at another origin gets nothing that was meant for the first.
const CREDENTIALS = ['authorization', 'cookie', 'dpop', 'proxy-authorization']

/**
 * No proxy of the environment, no connection kept, no redirect that was not judged like the first URL, nothing decompressed. The
 * answer is whole when it is given: a body that never ends is not the caller's to find out.
 */
export function safeFetch(rules: SafeFetchRules = {}): SafeFetch {
  const { reach = publicOnly, timeoutMs = 10_000, maxRedirects = 3, resolve = systemResolve } = rules
  return async (to, request = {}) => {
    const deadline = AbortSignal.timeout(timeoutMs)
    const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal])
    const connect = guardedConnector({
      reach,
      resolve,
      connectMs: timeoutMs,
      ...(rules.ca !== undefined && { ca: rules.ca }),
    })
    const agent = new Agent({ connect, pipelining: 1, connections: 1 })
    const method = request.method?.toUpperCase() ?? 'GET'
    const headers = new Headers(request.headers)
    headers.set('accept-encoding', 'identity')
    let url = parsed(to)
    try {
      for (let hops = 0; ; hops++) {
        assertUrl(url, reach)
        const response = await undiciFetch(url, {
          method,
          headers: [...headers],
          body: request.body ?? null,
          redirect: 'manual',
          dispatcher: agent,
          signal,
        })
        if (response.status < 300 || response.status >= 400) return await whole(response, url, rules)
        await response.body?.cancel()
        if (method !== 'GET' && method !== 'HEAD')
          throw new SafeFetchFault('REDIRECT_REFUSED', `${url.host} redirects what was sent to it`)
        if (hops >= maxRedirects) throw new SafeFetchFault('REDIRECT_REFUSED', `${url.host} redirects too often`)
        const next = parsed(response.headers.get('location') ?? '', url)
        if (url.protocol === 'https:' && next.protocol !== 'https:')
          throw new SafeFetchFault('REDIRECT_REFUSED', `${url.host} redirects away from https`)
        if (next.origin !== url.origin) for (const name of CREDENTIALS) headers.delete(name)
        url = next
      }
    } catch (fault) {
      throw explained(fault, url, deadline, request.signal)
    } finally {
      await agent.destroy()
    }
  }
}

function parsed(text: string | URL, base?: URL): URL {
  const url = text === '' ? null : URL.parse(String(text), base?.href)
  if (url === null) throw new SafeFetchFault('URL_REFUSED', 'it is not a URL')
  return url
}

async function whole(response: UndiciResponse, url: URL, rules: SafeFetchRules): Promise<Response> {
  const { maxBytes = 256 * 1024, contentTypes } = rules
  const coding = response.headers.get('content-encoding')
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  const refused =
    coding !== null && coding.toLowerCase() !== 'identity'
      ? 'a coding that was not asked for'
      : response.ok && contentTypes !== undefined && !contentTypes.includes(type)
        ? 'content of another type'
        : undefined
  if (refused !== undefined) {
    await response.body?.cancel()
    throw new SafeFetchFault('CONTENT_REFUSED', `${url.host} answers with ${refused}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length
    // Leaving the loop cancels the body.
    if (size > maxBytes) throw new SafeFetchFault('TOO_LARGE', `${url.host} answers with more than ${maxBytes} bytes`)
    chunks.push(chunk as Uint8Array)
  }
  const empty = response.status === 204 || response.status === 205
  return new Response(empty ? null : Buffer.concat(chunks), {
    status: response.status,
    headers: [...response.headers],
  })
}

function explained(fault: unknown, url: URL, deadline: AbortSignal, own: AbortSignal | undefined): unknown {
  if (own?.aborted === true) return own.reason
  if (deadline.aborted) return new SafeFetchFault('TOO_SLOW', `${url.host} did not answer in time`)
  for (let at: unknown = fault; at instanceof Error; at = at.cause) if (at instanceof SafeFetchFault) return at
  const cause = fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  return new SafeFetchFault('UNREACHABLE', `${url.host} cannot be reached${code === undefined ? '' : ` (${code})`}`)
}
