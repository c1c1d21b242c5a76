import * as oauth from 'oauth4webapi'
import { readServerMetadata } from '../client/server-metadata.ts'
import { wireOf } from '../client/wire.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { type Check, type IssuerRules, scopesOf } from './rules.ts'

/** RFC 7662. The audience has to be in the answer: a token that does not say whom it is for may be for anybody. */
export function introspectionCheck(rules: IssuerRules, fetch: SafeFetch, now: () => number): Check {
  const { introspection } = rules
  if (introspection === undefined) return () => Promise.resolve(undefined)
  const client = { client_id: introspection.clientId }
  let known: oauth.AuthorizationServer | undefined
  return async (token, signal) => {
    known ??= await readServerMetadata(rules.issuer, fetch, signal)
    const auth = oauth.ClientSecretBasic(introspection.clientSecret.reveal())
    const response = await oauth.introspectionRequest(known, client, auth, token, wireOf({ fetch, signal }))
    const {
      active,
      client_id: by,
      sub = by,
      exp,
      aud,
      iss,
      scope,
      ...rest
    } = await oauth.processIntrospectionResponse(known, client, response)
    // A client that acts for itself need not have a subject.
    const audiences = Array.isArray(aud) ? aud : [aud]
    if (!active || (iss !== undefined && iss !== rules.issuer) || !audiences.includes(rules.resource)) return undefined
    if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number' || exp * 1000 <= now()) return undefined
    return { subject: sub, expiresAt: exp * 1000, scopes: scopesOf(scope), claims: { ...rest, client_id: by } }
  }
}
