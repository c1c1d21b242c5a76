import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Principal } from '../../flow/principal/principal.ts'
import { isJsonObject, textMember, type Json } from '../../words/json.ts'
import type { Secret } from '../../words/secret.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { writeReply } from './http-outlet.ts'
import { failure } from './reply.ts'

/** What the door is told where access tokens of authorization servers are taken. */
export interface DoorAuthorization {
  /** Our own URL as clients know it; what tokens have to be for. */
  readonly resource: string
  readonly issuers: readonly string[]
  /** Without these a token opens nothing. */
  readonly required: readonly string[]
  /** Scopes for tools, by exported name; a `*` at the end stands for any rest. */
  readonly tools: readonly { readonly name: string; readonly scopes: readonly string[] }[]
  /** Resolves when the identities can tell about this token. Never rejects. */
  admit(token: Secret): Promise<void>
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** RFC 9728 §3.1: the path of the resource goes behind the well-known one. */
export function metadataUrl({ resource }: DoorAuthorization): URL {
  const url = new URL(resource)
  url.pathname = WELL_KNOWN + (url.pathname === '/' ? '' : url.pathname)
  return url
}

/** Answers where the path is that of our metadata. */
export function servesMetadata(
  authorization: DoorAuthorization | undefined,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (authorization === undefined || path !== metadataUrl(authorization).pathname) return false
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const { resource, issuers, required, tools } = authorization
  const scopes = [...new Set([...required, ...tools.flatMap((tool) => tool.scopes)])]
  const body = JSON.stringify({
    resource,
    authorization_servers: issuers,
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    resource_name: 'Countersign',
  })
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }
  response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
  return true
}

/** Parameters that a challenge has besides the error; a client learns from them where to go, and for what. */
export function challengeParameters(authorization: DoorAuthorization | undefined, scopes?: readonly string[]): string {
  if (authorization === undefined) return ''
  const asked = scopes ?? authorization.required
  const scope = asked.length === 0 ? '' : `, scope="${asked.join(' ')}"`
  return `, resource_metadata="${metadataUrl(authorization).href}"${scope}`
}

/** What the token of this principal would have to hold besides for that request; undefined: it holds all. */
export function scopesLacking(
  authorization: DoorAuthorization | undefined,
  { scopes }: Principal,
  method?: string,
  params?: Json,
): readonly string[] | undefined {
  // The holders of our own tokens are known by name; what they may do is said by the policies alone.
  if (authorization === undefined || scopes === undefined) return undefined
  const name = method === 'tools/call' && isJsonObject(params) ? textMember(params, 'name') : undefined
  const wanted = authorization.tools.filter((tool) => name !== undefined && matches(tool.name, name))
  const needed = [...new Set([...authorization.required, ...wanted.flatMap((tool) => tool.scopes)])]
  return needed.every((scope) => scopes.includes(scope)) ? undefined : needed
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** RFC 6750 §3.1 and 2026-07-28, "Scope Challenge Handling": 403, and all that the request needs. Nothing of it was acted on. */
export function sayMore(
  response: ServerResponse,
  authorization: DoorAuthorization,
  needed: readonly string[],
  id: number | string | null,
): void {
  const challenge = `Bearer realm="countersign", error="insufficient_scope"${challengeParameters(authorization, needed)}`
  const reply = failure(id, errorCodes.invalidRequest, 'The token lacks a scope', { scope: needed.join(' ') }, 403)
  writeReply(response, reply, ['www-authenticate', challenge])
}
