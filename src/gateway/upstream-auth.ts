import { readFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuthConfig } from '../config/auth.ts'
import type { ServerConfig } from '../config/config.ts'
import { sealedVault } from '../identity/client/sealed-vault.ts'
import type { ClientSettings } from '../identity/client/settings.ts'
import { type Browser, UpstreamAuth } from '../identity/client/upstream-auth.ts'
import { safeFetch } from '../identity/safe-fetch/safe-fetch.ts'
import type { UpstreamSpec } from '../mcp/upstream/upstream.ts'
import { Secret } from '../words/secret.ts'
import { isLocal } from './principals.ts'
import { homeKey } from './state-key.ts'

/** The tokens of each upstream that has `auth`, by its name. All are those of one principal: the person who owns the home. */
export function upstreamAuths(
  servers: readonly ServerConfig[],
  home: string,
  browser: Browser | undefined,
  onSecret: (secret: Secret) => void,
): ReadonlyMap<string, UpstreamAuth> {
  const wanted = servers.flatMap(({ spec, auth }) =>
    auth !== undefined && spec.reach.kind === 'http' ? [{ name: spec.name, url: spec.reach.url, auth }] : [],
  )
  if (wanted.length === 0) return new Map()
  const key = homeKey(home, 'tokens.key')
  return new Map(
    wanted.map(({ name, url, auth }) => {
      const owner = { principal: 'local', upstream: `${name} ${url}` }
      // Who runs the server on this machine may run its authorization server there too.
      const reach = {
        loopback: isLocal(new URL(url).hostname),
        hosts: auth.hosts,
      }
      return [
        name,
        new UpstreamAuth({
          server: url,
          settings: settingsOf(auth),
          fetch: safeFetch({ reach }),
          vault: sealedVault(join(home, 'tokens'), key, owner),
          onSecret,
          ...(browser !== undefined && { browser }),
        }),
      ]
    }),
  )
}

function settingsOf(auth: AuthConfig): ClientSettings {
  const { grant, dynamicRegistration, client, clientMetadataUrl, scopes, resource, issuer, assertionFile } = auth
  return {
    grant,
    dynamicRegistration,
    ...(issuer !== undefined && { issuer }),
    ...(clientMetadataUrl !== undefined && { metadataUrl: clientMetadataUrl }),
    ...(scopes !== undefined && { scopes }),
    ...(resource !== undefined && { resource }),
    ...(assertionFile !== undefined && {
      assertion: async () => new Secret((await readFile(assertionFile, 'utf8')).trim()),
    }),
    ...(client !== undefined && {
      client: {
        id: client.id,
        ...(client.secret !== undefined && { secret: client.secret }),
        ...(client.key !== undefined && {
          key: { pem: new Secret(readFileSync(client.key.path, 'utf8')), algorithm: client.key.algorithm },
        }),
      },
    }),
  }
}

export function withAuth(spec: UpstreamSpec, auth: UpstreamAuth | undefined): UpstreamSpec {
  return auth === undefined || spec.reach.kind !== 'http' ? spec : { ...spec, reach: { ...spec.reach, auth } }
}
