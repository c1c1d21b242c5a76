import * as oauth from 'oauth4webapi'
import { AuthFault } from './fault.ts'
import { assertS256 } from './server-metadata.ts'
import { tokenFault, type Wire, wireOf } from './wire.ts'

/** What one authorization request was about; fixed before the browser is sent anywhere (2026-07-28, mix-up protection). */
export interface AuthorizationRequest {
  readonly url: URL
  /** Takes the URL that the browser was sent back to, or its query. Once, and not after ten minutes. Throws an AuthFault. */
  redeem(back: URL, wire: Wire): Promise<oauth.TokenEndpointResponse>
}

export interface Asked {
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly auth: oauth.ClientAuth
  readonly redirectUri: string
  readonly resource: string
  readonly scopes: readonly string[] | undefined
  readonly now: () => number
}

const LIVES_MS = 10 * 60_000

/** RFC 6749 §4.1 with PKCE S256, `state`, `resource`, and the issuer remembered. Nothing is sent yet. */
export async function requestAuthorization(asked: Asked): Promise<AuthorizationRequest> {
  const { server, client, redirectUri, resource, scopes, now } = asked
  assertS256(server)
  if (server.authorization_endpoint === undefined)
    throw new AuthFault('METADATA_REFUSED', 'the authorization server has no authorization endpoint')
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource,
    ...(scopes !== undefined && { scope: scopes.join(' ') }),
    // OpenID Connect Core §11: without consent there is no offline access.
    ...(scopes?.includes('offline_access') === true && { prompt: 'consent' }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const until = now() + LIVES_MS
  let used = false
  return {
    url,
    redeem: (back, wire) => {
      if (used || now() > until) throw new AuthFault('RESPONSE_REFUSED', 'this login is over; begin another one')
      // Also a wrong answer uses it up: whoever guesses has one guess.
      used = true
      return redeem(asked, back, state, verifier, wire)
    },
  }
}

async function redeem(
  { server, client, auth, redirectUri, resource }: Asked,
  back: URL,
  state: string,
  verifier: string,
  wire: Wire,
): Promise<oauth.TokenEndpointResponse> {
  const answer = back.searchParams
  for (const name of ['code', 'state', 'iss', 'error'])
    if (answer.getAll(name).length > 1)
      throw new AuthFault('RESPONSE_REFUSED', 'the answer says something twice, and is not taken')
  // `iss` first, by plain string comparison (RFC 9207 §2.4), and for errors too: an error of another server is not shown.
  const issuer = answer.get('iss')
  if (issuer !== null && issuer !== server.issuer)
    throw new AuthFault('RESPONSE_REFUSED', 'the answer is that of another authorization server')
  if (issuer === null && server.authorization_response_iss_parameter_supported === true)
    throw new AuthFault('RESPONSE_REFUSED', 'the answer does not say which authorization server it is from')
  if (answer.get('state') !== state)
    throw new AuthFault('RESPONSE_REFUSED', 'the answer is not the one to this login (state)')
  const error = answer.get('error')
  if (error !== null) {
    const code = /^[a-z_]{1,40}$/.test(error) ? error : 'an error'
    throw new AuthFault('DENIED', `the authorization server refused the login (${code})`)
  }
  try {
    const parameters = oauth.validateAuthResponse(server, client, answer, state)
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      parameters,
      redirectUri,
      verifier,
      {
        ...wireOf(wire),
        additionalParameters: { resource },
      },
    )
    return await oauth.processAuthorizationCodeResponse(server, client, response)
  } catch (fault) {
    throw tokenFault(fault, 'the authorization server gave no token for the login')
  }
}
