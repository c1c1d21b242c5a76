import type { JsonObject } from '../../words/json.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { fetchDocument, textsOf } from './documents.ts'
import { AuthFault } from './fault.ts'

/** What a protected resource says of itself (RFC 9728), as far as it is believed. */
export interface ProtectedResource {
  /** The value for `resource` (RFC 8707), to be sent exactly so each time. */
  readonly resource: string
  /** Issuers, as written: they are compared and never normalised. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[] | undefined
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * From where the challenge says, else from the well-known place with the path in it, else without (2026-07-28, "Authorization
 * Server Discovery"). `expected` is the server's URL, or the resource that the operator wrote.
 */
export async function readResourceMetadata(
  server: URL,
  named: string | undefined,
  expected: string | undefined,
  fetch: SafeFetch,
  signal: AbortSignal,
): Promise<ProtectedResource> {
  const path = server.pathname === '/' ? '' : server.pathname.replace(/\/$/, '')
  const places =
    named !== undefined
      ? [{ url: named, mayBeOrigin: true }]
      : [
          ...(path === '' ? [] : [{ url: `${server.origin}${WELL_KNOWN}${path}`, mayBeOrigin: false }]),
          { url: `${server.origin}${WELL_KNOWN}`, mayBeOrigin: true },
        ]
  for (const { url, mayBeOrigin } of places) {
    const document = await fetchDocument(fetch, url, 'the metadata of the protected resource', signal)
    if (document !== undefined) return believed(document, server, expected, mayBeOrigin)
  }
  if (named !== undefined)
    throw new AuthFault('METADATA_REFUSED', 'the challenge names metadata of the protected resource that is not there')
  // Before 2025-06-18 a server was its own authorization server, with its metadata at the root.
  return { resource: expected ?? canonical(server), issuers: [server.origin], scopes: undefined }
}

function believed(
  document: JsonObject,
  server: URL,
  expected: string | undefined,
  mayBeOrigin: boolean,
): ProtectedResource {
  const { resource } = document
  const issuers = textsOf(document, 'authorization_servers') ?? []
  // A server that names another as its resource would get that other's tokens from us (CVE-2026-54030).
  if (typeof resource !== 'string' || !isThis(resource, server, expected, mayBeOrigin))
    throw new AuthFault(
      'METADATA_REFUSED',
      'the metadata of the protected resource is about another resource than this server',
    )
  if (issuers.length === 0 || issuers.length > 16)
    throw new AuthFault('METADATA_REFUSED', 'the metadata of the protected resource names no authorization server')
  return { resource, issuers, scopes: textsOf(document, 'scopes_supported') }
}

function isThis(resource: string, server: URL, expected: string | undefined, mayBeOrigin: boolean): boolean {
  if (expected !== undefined) return resource === expected
  const url = URL.parse(resource)
  if (url === null || url.hash !== '' || url.username !== '' || url.password !== '') return false
  const said = canonical(url)
  // The document at the root is about the whole origin (RFC 9728 §3.3).
  return said === canonical(server) || (mayBeOrigin && said === server.origin)
}

/** RFC 8707 §2 and "Canonical Server URI" of 2026-07-28: no fragment, no slash that is the whole path. */
function canonical(url: URL): string {
  return `${url.origin}${url.pathname === '/' ? '' : url.pathname}${url.search}`
}
