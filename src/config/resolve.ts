import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Budget } from '../flow/budget/accounts.ts'
import type { ToolProfile } from '../flow/tool/profile.ts'
import type { UpstreamSpec } from '../mcp/upstream/upstream.ts'
import { isSecretReference, SecretReference } from '../identity/secrets/reference.ts'
import type { JsonObject } from '../words/json.ts'
import { Secret } from '../words/secret.ts'
import type { AuthConfig, AuthText } from './auth.ts'
import type { EmbedderConfig, Config, NoticeWay, PrincipalConfig, ServerConfig } from './config.ts'
import type { ConfigDocument } from './document.ts'
import { endpointAuthOf } from './endpoint-auth.ts'
import { namesSecret } from './interpolate.ts'
import type { NotifyText } from './notify.ts'
import type { ConfigText } from './schema.ts'

/** Makes the file's text mean something on this machine. `file` is absolute. */
export function resolveConfig(file: string, text: ConfigText, document: ConfigDocument): Config {
  const folder = dirname(file)
  const absolute = (path: string) => resolve(folder, path)
  return deepFreeze({
    file,
    folder,
    endpoint: endpointOf(text.endpoint),
    principals: text.principals.map((it) => principalOf(it, absolute)),
    roots: Object.entries(text.roots).map(([name, path]) => ({ name, path: absolute(path) })),
    policy: absolute(text.policy),
    lock: absolute(text.lock),
    servers: Object.entries(text.servers).flatMap(([name, server]) =>
      server.enabled
        ? serverOf(
            name,
            server,
            folder,
            (part, key) => document.filled(['servers', name, part, key]),
            (root) => absolute(text.roots[root]!),
            text.sandbox,
          )
        : [],
    ),
    waiting: Object.keys(text.servers).filter((name) => !text.servers[name]!.enabled),
    contentTypes: contentTypesOf(text.servers),
    consent: {
      waitMs: text.consent.wait,
      rules: text.consent.rules.map(({ expires, ...rule }) => ({ ...rule, expiresMs: expires })),
    },
    budgets: text.budgets.map(({ window, wall, ...rest }): Budget => {
      return { ...rest, windowMs: window, ...(wall === undefined ? {} : { wallMs: wall }) }
    }),
    limits: text.limits,
    ...(text.sampling === undefined
      ? {}
      : {
          sampling: { model: text.sampling.model, maxTokens: text.sampling.maxTokens, waitMs: text.sampling.wait },
        }),
    ledger: { reads: text.ledger.reads, repeatWindowMs: text.ledger.repeatWindow },
    evidence: text.evidence,
    reload: text.reload,
    telemetry: text.telemetry,
    notify: text.notify.map((way) => noticeWayOf(way, folder)),
    catalogue: { refreshMs: text.catalogue.refresh },
    search: text.search.embedder === undefined ? {} : { embedder: embedderOf(text.search.embedder) },
    exposure: {
      ...text.exposure,
      clients: new Map(Object.entries(text.exposure.clients)),
      principals: new Map(Object.entries(text.exposure.principals)),
    },
  })
}

function noticeWayOf(way: NotifyText, folder: string): NoticeWay {
  if (way.to !== 'webhook') return way
  const headers = Object.entries(way.headers).map(
    ([name, value]) =>
      [name, isSecretReference(value) ? new SecretReference(value, folder) : new Secret(value)] as const,
  )
  return { ...way, headers: Object.fromEntries(headers) }
}

function embedderOf({ url, model, key }: NonNullable<ConfigText['search']['embedder']>): EmbedderConfig {
  if (url === undefined || model === undefined) return { kind: 'packaged' }
  return { kind: 'endpoint', url, model, ...(key === undefined ? {} : { key: new Secret(key) }) }
}

function endpointOf({ auth, ...rest }: ConfigText['endpoint']): Config['endpoint'] {
  return { ...rest, ...(auth !== undefined && { auth: endpointAuthOf(auth) }) }
}

function principalOf(
  { tokenFile, tokenSha256, expires, ...rest }: ConfigText['principals'][number],
  absolute: (path: string) => string,
): PrincipalConfig {
  const token =
    tokenFile === undefined
      ? ({ kind: 'sha256', digest: tokenSha256! } as const)
      : ({ kind: 'file', path: absolute(tokenFile) } as const)
  return { ...rest, ...(expires === undefined ? {} : { expiresAt: expires }), token }
}

type ServerText = ConfigText['servers'][string]

function serverOf(
  name: string,
  server: ServerText,
  folder: string,
  filled: (part: 'env' | 'headers', key: string) => boolean,
  rootOf: (name: string) => string,
  sandbox: ServerConfig['sandbox'],
): ServerConfig {
  return {
    spec: {
      name,
      reach:
        server.url === undefined
          ? stdioReach(server, folder, filled)
          : httpReach(server.url, server.headers ?? {}, folder),
      revisions: server.revisions,
      connectTimeoutMs: server.connectTimeout,
    },
    identity: identityOf(server, folder),
    ...(server.auth !== undefined && { auth: authOf(server.auth, folder) }),
    ...sandboxOf(server, sandbox, folder),
    resources: server.resources,
    prompts: server.prompts,
    shared: server.shared,
    connections: server.connections,
    idleMs: server.idle,
    naming: server.naming,
    asks: { ...server.asks, roots: server.asks.roots.map(rootOf), named: server.naming === 'prefixed' },
    tools: new Map(Object.entries(server.tools).map(([tool, profile]) => [tool, profileOf(profile)])),
  }
}

function sandboxOf(
  { sandbox: own, url }: ServerText,
  general: ServerConfig['sandbox'],
  folder: string,
): Pick<ServerConfig, 'sandbox' | 'confinement'> {
  const given =
    typeof own === 'object' ? own : { read: [], write: [], network: false, ...(own !== undefined && { mode: own }) }
  const mode = given.mode ?? general
  if (url !== undefined || mode === 'none') return { sandbox: 'none' }
  const places = (paths: readonly string[]): string[] => paths.map((path) => resolve(folder, path))
  return {
    sandbox: mode,
    confinement: { mode, read: places(given.read), write: places(given.write), network: given.network },
  }
}

function stdioReach(
  server: ServerText,
  folder: string,
  filled: (part: 'env', key: string) => boolean,
): UpstreamSpec['reach'] {
  const env = Object.entries(server.env ?? {}).map(
    ([key, value]) => [key, envValue(value, filled('env', key) || namesSecret(key), folder)] as const,
  )
  return {
    kind: 'stdio',
    command: programOf(server.command!, folder),
    args: server.args ?? [],
    cwd: resolve(folder, server.cwd ?? '.'),
    env: Object.fromEntries(env),
  }
}

// A bare name is looked up on the PATH when it is started; one with a slash is a file beside the configuration.
function programOf(command: string, folder: string): string {
  // The `node` on the PATH may be too old for what is started with it; the one that runs us is not.
  if (command === 'node') return process.execPath
  return command.includes('/') ? resolve(folder, command) : command
}

function envValue(value: string, secret: boolean, folder: string): Secret | SecretReference | string {
  if (isSecretReference(value)) return new SecretReference(value, folder)
  return secret ? new Secret(value) : value
}

function httpReach(url: string, headers: Readonly<Record<string, string>>, folder: string): UpstreamSpec['reach'] {
  return {
    kind: 'http',
    url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, envValue(value, true, folder)])),
  }
}

function identityOf(server: ServerText, folder: string): JsonObject {
  if (server.url !== undefined)
    return {
      url: server.url,
      ...(server.auth?.issuer !== undefined && { issuer: server.auth.issuer }),
      headers: Object.keys(server.headers ?? {})
        .map((it) => it.toLowerCase())
        .toSorted(),
    }
  const identity = {
    command: server.command!,
    args: server.args ?? [],
    cwd: server.cwd ?? '.',
    env: Object.keys(server.env ?? {}).toSorted(),
  }
  if (server.package === undefined) return identity
  return {
    ...identity,
    package: server.package,
    version: installedVersion(server.package, resolve(folder, server.cwd ?? '.')),
  }
}

function authOf(text: AuthText, folder: string): AuthConfig {
  const { clientId, clientSecret, clientKey, clientKeyAlgorithm, registration, assertionFile, ...rest } = text
  const key = clientKey && { key: { path: resolve(folder, clientKey), algorithm: clientKeyAlgorithm } }
  return {
    ...rest,
    dynamicRegistration: registration === 'dynamic',
    ...(clientId !== undefined && {
      client: { id: clientId, ...(clientSecret !== undefined && { secret: new Secret(clientSecret) }), ...key },
    }),
    ...(assertionFile !== undefined && { assertionFile: resolve(folder, assertionFile) }),
  }
}

/** Version of the package that Node would find from that folder; `not installed` is an identity too, which no pin has. */
function installedVersion(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    try {
      const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as {
        version?: unknown
      }
      return typeof version === 'string' ? version : 'unversioned'
    } catch {
      if (folder === dirname(folder)) return 'not installed'
    }
  }
}

function contentTypesOf(servers: ConfigText['servers']): ReadonlyMap<string, readonly string[]> {
  const named = Object.entries(servers).flatMap(([server, { tools }]) =>
    Object.entries(tools).map(([tool, { contentTypes }]) => [`${server}/${tool}`, contentTypes] as const),
  )
  return new Map(named.flatMap(([key, types]) => (types === undefined ? [] : [[key, types]])))
}

function profileOf(profile: ServerText['tools'][string]): ToolProfile {
  return { ...profile, declared: true } satisfies ToolProfile & { contentTypes?: unknown }
}

function deepFreeze<Value>(value: Value): Value {
  if (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Secret || value instanceof SecretReference) &&
    !Object.isFrozen(value)
  ) {
    Object.freeze(value)
    for (const part of value instanceof Map ? value.values() : Object.values(value)) deepFreeze(part)
  }
  return value
}
