import * as oauth from 'oauth4webapi'
import type { ClientThere } from './registration.ts'
import type { ClientSettings } from './settings.ts'
import { AuthFault } from './fault.ts'
import { errorOf, tokenFault, type Wire, wireOf } from './wire.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

interface For {
  readonly server: oauth.AuthorizationServer
  readonly there: ClientThere
  readonly resource: string
  readonly scopes: readonly string[] | undefined
}

/** A token without a person: RFC 6749 §4.4, or RFC 7523 §2.1. Asked for once; a no is a no. */
export async function grantWithoutPerson(
  { server, there, resource, scopes }: For,
  settings: ClientSettings,
  wire: Wire,
): Promise<oauth.TokenEndpointResponse> {
  const { client, auth } = there
  const parameters = { resource, ...(scopes !== undefined && { scope: scopes.join(' ') }) }
  try {
    if (settings.grant === 'client_credentials') {
      const response = await oauth.clientCredentialsGrantRequest(server, client, auth, parameters, wireOf(wire))
      return await oauth.processClientCredentialsResponse(server, client, response)
    }
    if (settings.assertion === undefined) throw new AuthFault('NO_CLIENT', 'the configuration names no assertion')
    const assertion = (await settings.assertion()).reveal()
    const asked = { ...parameters, assertion }
    const response = await oauth.genericTokenEndpointRequest(server, client, auth, JWT_BEARER, asked, wireOf(wire))
    return await oauth.processGenericTokenEndpointResponse(server, client, response)
  } catch (fault) {
    throw tokenFault(fault, 'the authorization server gave no token')
  }
}

export type Refreshed =
  | { readonly kind: 'tokens'; readonly response: oauth.TokenEndpointResponse }
  /** The refresh token is of no use any more, or the client is unknown there. */
  | { readonly kind: 'over'; readonly clientToo: boolean }

/** RFC 6749 §6, with the `resource` of the first grant. Throws an AuthFault where it is not known whether the token still holds. */
export async function refresh(
  { server, there, resource }: Omit<For, 'scopes'>,
  refreshToken: string,
  wire: Wire,
): Promise<Refreshed> {
  const { client, auth } = there
  try {
    const options = { ...wireOf(wire), additionalParameters: { resource } }
    const response = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, options)
    return { kind: 'tokens', response: await oauth.processRefreshTokenResponse(server, client, response) }
  } catch (fault) {
    const error = errorOf(fault)
    if (error === 'invalid_grant') return { kind: 'over', clientToo: false }
    const unknown = error === 'invalid_client' || error === 'unauthorized_client'
    if (unknown || fault instanceof oauth.WWWAuthenticateChallengeError) return { kind: 'over', clientToo: true }
    throw tokenFault(fault, 'the token could not be refreshed')
  }
}
