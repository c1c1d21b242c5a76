import { importPKCS8 } from 'jose'
import * as oauth from 'oauth4webapi'
import { isJsonObject, textMember, type JsonObject } from '../../words/json.ts'
import { dialled, textsOf } from './documents.ts'
import { AuthFault } from './fault.ts'
import type { Kept, KeptClient } from './kept.ts'
import type { ClientSettings } from './settings.ts'
import type { Wire } from './wire.ts'

/** A client at one authorization server, and how it proves that it is that client. */
export interface ClientThere {
  readonly client: oauth.Client
  readonly auth: oauth.ClientAuth
  /** It was registered just now; to be kept under this issuer. */
  readonly registered?: KeptClient
}

/**
 * Who we are there (2026-07-28, "Client Registration Approaches"): the client that was registered by hand, else the document that
 * says who we are, else one that we register, where the operator allows that. A client of another issuer is never tried.
 */
export async function clientAt(
  server: oauth.AuthorizationServer,
  settings: ClientSettings,
  kept: Kept,
  redirectUri: string | undefined,
  wire: Wire,
): Promise<ClientThere> {
  const { client: byHand, metadataUrl } = settings
  if (byHand !== undefined) {
    const issuer = settings.issuer ?? kept.boundTo ?? server.issuer
    if (issuer !== server.issuer)
      throw new AuthFault('NO_CLIENT', 'the client of the configuration is registered at another authorization server')
    return { client: { client_id: byHand.id }, auth: await authByHand(server, byHand) }
  }
  if (metadataUrl !== undefined && server['client_id_metadata_document_supported'] === true)
    return { client: { client_id: metadataUrl }, auth: oauth.None() }
  if (settings.grant === 'jwt_bearer') return { client: { client_id: 'none' }, auth: anonymous }
  const known = kept.clients[server.issuer]
  // Only loopback redirects may change their port (RFC 8252 §7.3), and not every server knows that.
  if (known !== undefined && (redirectUri === undefined || known.redirectUri === redirectUri))
    return ofKept(server, known)
  if (server.registration_endpoint === undefined)
    throw new AuthFault('NO_CLIENT', 'the authorization server wants a client that was registered there by hand')
  if (!settings.dynamicRegistration)
    throw new AuthFault(
      'NO_CLIENT',
      'the authorization server would register us, and the configuration does not allow it',
    )
  if (redirectUri === undefined) throw new AuthFault('LOGIN_NEEDED', 'a person has to log in')
  const registered = await register(server, redirectUri, wire)
  return { ...ofKept(server, registered), registered }
}

async function register(
  server: oauth.AuthorizationServer,
  redirectUri: string,
  { fetch, signal }: Wire,
): Promise<KeptClient> {
  const methods = methodsOf(server)
  const metadata = {
    client_name: 'Countersign',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // A loopback redirect is that of a native application (OpenID Connect Registration §2).
    application_type: 'native',
    token_endpoint_auth_method:
      ['none', 'client_secret_basic', 'client_secret_post'].find((it) => methods.includes(it)) ?? 'none',
  }
  const what = 'the authorization server does not register us'
  let response: Response
  try {
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(metadata), signal }
    response = await fetch(server.registration_endpoint!, request)
  } catch (fault) {
    throw dialled(fault, what)
  }
  if (response.status >= 500) throw new AuthFault('UNREACHABLE', `${what} now (HTTP ${response.status})`)
  if (!response.ok) throw new AuthFault('NO_CLIENT', `${what} (HTTP ${response.status})`)
  // Read by hand: many servers leave out `client_secret_expires_at`, which RFC 7591 §3.2.1 wants beside a secret.
  const answer: unknown = await response.json().catch(() => undefined)
  const id = isJsonObject(answer) ? textMember(answer, 'client_id') : undefined
  if (!isJsonObject(answer) || id === undefined || id === '')
    throw new AuthFault('RESPONSE_REFUSED', `${what}: no id came`)
  const secret = textMember(answer, 'client_secret')
  const authMethod = textMember(answer, 'token_endpoint_auth_method')
  return { id, redirectUri, ...(secret !== undefined && { secret }), ...(authMethod !== undefined && { authMethod }) }
}

function ofKept(server: oauth.AuthorizationServer, { id, secret, authMethod }: KeptClient): ClientThere {
  return { client: { client_id: id }, auth: authOf(server, secret, authMethod) }
}

async function authByHand(
  server: oauth.AuthorizationServer,
  { secret, key }: NonNullable<ClientSettings['client']>,
): Promise<oauth.ClientAuth> {
  if (key === undefined) return authOf(server, secret?.reveal(), undefined)
  try {
    return oauth.PrivateKeyJwt(await importPKCS8(key.pem.reveal(), key.algorithm))
  } catch {
    throw new AuthFault('NO_CLIENT', 'the private key of the client cannot be read')
  }
}

function authOf(
  server: oauth.AuthorizationServer,
  secret: string | undefined,
  method: string | undefined,
): oauth.ClientAuth {
  if (secret === undefined || method === 'none') return oauth.None()
  if (method === 'client_secret_post') return oauth.ClientSecretPost(secret)
  if (method === 'client_secret_basic') return basic(secret)
  const methods = methodsOf(server)
  if (methods.includes('client_secret_basic')) return basic(secret)
  return methods.includes('client_secret_post') ? oauth.ClientSecretPost(secret) : oauth.None()
}

// RFC 8414 §2: where nothing is said, it is client_secret_basic.
function methodsOf(server: oauth.AuthorizationServer): readonly string[] {
  return textsOf(server as unknown as JsonObject, 'token_endpoint_auth_methods_supported') ?? ['client_secret_basic']
}

// RFC 6749 §2.3.1 with its Appendix B: encoded like a form, in which `-` stays as it is. Escaping it too would be equal to those who
// decode, and many compare without that.
function basic(secret: string): oauth.ClientAuth {
  return (_server, client, _body, headers) => {
    const pair = `${formEncoded(client.client_id)}:${formEncoded(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

// The assertion says who asks (RFC 7521 §4.1: client authentication is optional then).
const anonymous: oauth.ClientAuth = (_server, _client, body) => body.delete('client_id')
