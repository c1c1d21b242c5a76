import type { AuthorizationServer } from 'oauth4webapi'
import type { JsonObject } from '../../words/json.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { fetchDocument, textsOf } from './documents.ts'
import { AuthFault } from './fault.ts'

/** The places of the metadata for an issuer, in the order of 2026-07-28, "Authorization Server Metadata Discovery". */
export function metadataPlaces(issuer: string): readonly string[] {
  const url = URL.parse(issuer)
  if (url === null || url.search !== '' || url.hash !== '' || !/^https?:$/.test(url.protocol))
    throw new AuthFault('METADATA_REFUSED', 'the authorization server that is named is not the URL of an issuer')
  const path = url.pathname.replace(/\/$/, '')
  const oauth = `${url.origin}/.well-known/oauth-authorization-server${path}`
  const oidc = `${url.origin}/.well-known/openid-configuration${path}`
  return path === '' ? [oauth, oidc] : [oauth, oidc, `${url.origin}${path}/.well-known/openid-configuration`]
}

/**
 * Metadata of the authorization server with exactly this issuer (RFC 8414 §3.3: the strings are identical; no case, port, slash
 * or escape is made equal). A document with another issuer ends the search: a next place is not asked for a better answer.
 */
export async function readServerMetadata(
  issuer: string,
  fetch: SafeFetch,
  signal: AbortSignal,
): Promise<AuthorizationServer> {
  for (const place of metadataPlaces(issuer)) {
    const document = await fetchDocument(fetch, place, 'the metadata of the authorization server', signal)
    if (document === undefined) continue
    if (document['issuer'] !== issuer)
      throw new AuthFault('METADATA_REFUSED', 'the metadata of the authorization server is that of another issuer')
    for (const name of ENDPOINTS) assertEndpoint(document, name)
    return document as unknown as AuthorizationServer
  }
  throw new AuthFault('METADATA_REFUSED', 'the authorization server publishes no metadata')
}

const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
  'jwks_uri',
] as const

// What is dialled is judged by the guarded fetch; the authorization endpoint is opened by a browser, which judges nothing
// (CVE-2025-6514: `file:` and worse went to the system's opener).
function assertEndpoint(document: JsonObject, name: (typeof ENDPOINTS)[number]): void {
  const value = document[name]
  if (value === undefined) return
  const url = typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) ? URL.parse(value) : null
  const local = url?.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url === null || (url.protocol !== 'https:' && !local) || url.username !== '' || url.hash !== '')
    throw new AuthFault('METADATA_REFUSED', `the authorization server's ${name} is not an https URL`)
}

/** A server that does not say that it takes S256 may ignore the challenge (2026-07-28, "Authorization Code Protection"). */
export function assertS256(server: AuthorizationServer): void {
  const methods = textsOf(server as unknown as JsonObject, 'code_challenge_methods_supported')
  if (methods?.includes('S256') !== true)
    throw new AuthFault('METADATA_REFUSED', 'the authorization server does not say that it supports PKCE with S256')
}
