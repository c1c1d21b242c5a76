import { readFileSync, statSync } from 'node:fs'
import type { Config, PrincipalConfig } from '../config/config.ts'
import type { Identities } from '../flow/principal/principal.ts'
import { ResourceServer } from '../identity/resource-server/resource-server.ts'
import { isLoopback } from '../identity/safe-fetch/address.ts'
import { safeFetch } from '../identity/safe-fetch/safe-fetch.ts'
import { type TokenHolder, TOKEN_LENGTH, TokenIdentities } from '../identity/tokens.ts'
import { type Digest, digest } from '../words/digest.ts'
import { type Home, HomeFault, readToken } from './home.ts'

/** The person who owns the home. Sockets of mode 0600 and the home's token prove it. */
export const localUser = { id: 'local', tenant: 'local', kind: 'user', groups: [] } as const

/** The local user and the service principals of the configuration. A token file that others can read is a fault. */
function tokenIdentities(config: Config, home: Home): TokenIdentities {
  const holders: TokenHolder[] = [{ tokenDigest: digest(readToken(home).reveal()), principal: localUser }]
  for (const { token, ...principal } of config.principals)
    holders.push({ tokenDigest: tokenDigestOf(principal.id, token), principal })
  return new TokenIdentities(localUser, holders)
}

function tokenDigestOf(id: string, token: PrincipalConfig['token']): Digest {
  if (token.kind === 'sha256') return token.digest as Digest
  const found = statSync(token.path, { throwIfNoEntry: false })
  if (found === undefined)
    throw new HomeFault(
      'HOME_MISSING',
      `the token file of ${id} does not exist: ${token.path}`,
      'Write a token into it, mode 600.',
    )
  if ((found.mode & 0o077) !== 0)
    throw new HomeFault(
      'HOME_UNSAFE',
      `others may read the token file of ${id}: ${token.path}`,
      `chmod 600 ${token.path}`,
    )
  const text = readFileSync(token.path, 'utf8').trim()
  if (text.length < TOKEN_LENGTH)
    throw new HomeFault(
      'HOME_UNSAFE',
      `the token of ${id} is shorter than ${TOKEN_LENGTH} characters`,
      'Use 32 random bytes in base64url.',
    )
  return digest(text)
}

/** Who may come, and by what is proved. With `endpoint.auth` also those whom an authorization server vouches for. */
export function identitiesOf(config: Config, home: Home): Identities & { readonly admit?: ResourceServer['admit'] } {
  const own = tokenIdentities(config, home)
  const { auth } = config.endpoint
  if (auth === undefined) return own
  // Where we are reached on this machine's loopback, so may the authorization server be.
  const loopback = isLocal(new URL(auth.resource).hostname)
  const hosts = new Map(auth.issuers.map(({ rules, hosts }) => [rules.issuer, hosts]))
  return new ResourceServer(own, {
    issuers: auth.issuers.map(({ rules }) => rules),
    fetch: ({ issuer }) => safeFetch({ reach: { loopback, hosts: hosts.get(issuer) ?? [] } }),
  })
}

export function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))
}
