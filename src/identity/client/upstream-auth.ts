import type { AuthorizationServer, TokenEndpointResponse } from 'oauth4webapi'
import { Secret } from '../../words/secret.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { type AuthorizationRequest, requestAuthorization } from './authorization-code.ts'
import type { Challenge } from './challenge.ts'
import { AuthFault } from './fault.ts'
import { grantWithoutPerson, refresh } from './grants.ts'
import type { Kept, KeptTokens, Vault } from './kept.ts'
import { clientAt, type ClientThere } from './registration.ts'
import { type ProtectedResource, readResourceMetadata } from './resource-metadata.ts'
import { scopesToAsk, stepsUp } from './scopes.ts'
import { readServerMetadata } from './server-metadata.ts'
import type { ClientSettings } from './settings.ts'

/** Someone who opens a URL for a person, and brings back the URL that the browser is sent to. */
export interface Browser {
  readonly redirectUri: string
  visit(url: URL, signal: AbortSignal): Promise<URL>
}

export interface UpstreamAuthOptions {
  /** The URL of the server, which is the resource. */
  readonly server: string
  readonly settings: ClientSettings
  readonly fetch: SafeFetch
  readonly vault: Vault
  /** Absent in the gateway: a login is begun by a command, not by a call. */
  readonly browser?: Browser
  readonly now?: () => number
  /** Told of every token, so that it is known when it comes back. */
  readonly onSecret?: (secret: Secret) => void
  /** For one renewal with all that it asks for, in milliseconds. A minute where nothing is said. */
  readonly renewMs?: number
}

export interface AuthState {
  readonly issuer?: string
  readonly scopes?: readonly string[]
  readonly expiresAt?: number
  readonly refreshes: boolean
  /** Why there is no token that could be used. */
  readonly problem?: string
}

/** A login that waits for its browser. */
export interface Login {
  readonly url: URL
  finish(back: URL, signal: AbortSignal): Promise<void>
}

const EARLY_MS = 30_000

/**
 * Tokens of one principal for one upstream: got, kept, refreshed, and given to nobody but that server. One renewal at a time;
 * whoever comes while it runs waits for it.
 */
export class UpstreamAuth {
  readonly #server: URL
  readonly #options: UpstreamAuthOptions
  readonly #now: () => number
  #kept: Kept
  #renewing: Promise<boolean> | undefined
  /** Of the last challenge that nobody could answer: a login asks for these too. */
  #wanted: Challenge | undefined
  #problem: string | undefined

  constructor(options: UpstreamAuthOptions) {
    this.#options = options
    this.#server = new URL(options.server)
    this.#server.hash = ''
    this.#now = options.now ?? Date.now
    this.#kept = options.vault.read()
    this.#tell()
  }

  get state(): AuthState {
    const { tokens } = this.#kept
    return {
      refreshes: tokens?.refresh !== undefined,
      ...(tokens !== undefined && { issuer: tokens.issuer, scopes: tokens.scopes }),
      ...(tokens?.expiresAt !== undefined && { expiresAt: tokens.expiresAt }),
      ...(this.#problem !== undefined && { problem: this.#problem }),
    }
  }

  /** What goes into `Authorization` now; undefined: nothing is known that would be taken. Never rejects. */
  authorization(): string | undefined | Promise<string | undefined> {
    const { tokens } = this.#kept
    if (tokens?.expiresAt === undefined || tokens.expiresAt - EARLY_MS > this.#now()) return this.current()
    if (tokens.refresh === undefined && this.#options.settings.grant === 'authorization_code') return this.current()
    return this.#once(() => this.#renew(undefined, undefined)).then(() => this.current())
  }

  /** The same without waiting. */
  current(): string | undefined {
    const access = this.#kept.tokens?.access
    return access === undefined ? undefined : `Bearer ${access}`
  }

  /**
   * The server refused a request with this challenge. Resolves true where another authorization is at hand by now, so that asking
   * again makes sense. `used` is what the request carried. Never rejects; what went wrong is in `state`.
   */
  challenged(challenge: Challenge, status: 401 | 403, used: string | undefined): Promise<boolean> {
    // Somebody renewed it in the meantime.
    if (status === 401 && this.current() !== undefined && this.current() !== used) return Promise.resolve(true)
    if (status === 403 && !stepsUp(challenge.scope, this.#kept.tokens?.scopes ?? [])) return Promise.resolve(false)
    return this.#once(() => this.#renew(challenge, status))
  }

  /** Begins a login for a person whose browser comes back to that URI. Throws an AuthFault. */
  async login(redirectUri: string, signal: AbortSignal): Promise<Login> {
    const { fetch } = this.#options
    const { resource, server } = await this.#discover(this.#wanted, signal)
    const request = await this.#request(resource, server, this.#wanted, redirectUri, signal)
    return {
      url: request.url,
      finish: async (back, signal) =>
        this.#take(await request.redeem(back, { fetch, signal }), request, server, resource),
    }
  }

  /** Forgets the tokens. The clients that were registered for us stay known. */
  logout(): void {
    this.#keep({ ...this.#kept, tokens: undefined })
    this.#wanted = undefined
    this.#problem = undefined
  }

  #once(renew: () => Promise<boolean>): Promise<boolean> {
    this.#renewing ??= renew()
      .then((renewed) => {
        this.#problem = undefined
        return renewed
      })
      .catch((fault: unknown) => {
        this.#problem = fault instanceof AuthFault ? fault.message : 'the authorization failed by a fault of ours'
        return false
      })
      .finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  async #renew(challenge: Challenge | undefined, status: 401 | 403 | undefined): Promise<boolean> {
    const { fetch, settings, browser, renewMs = 60_000 } = this.#options
    const signal = AbortSignal.timeout(renewMs)
    this.#wanted = challenge ?? this.#wanted
    // Also before a refresh, since the resource may have moved to another authorization server (2026-07-28).
    const { resource, server } = await this.#discover(challenge, signal)
    if (this.#kept.tokens !== undefined && this.#kept.tokens.issuer !== server.issuer)
      this.#keep({ ...this.#kept, tokens: undefined })
    if (status !== 403 && (await this.#refreshed(server, signal))) return true
    const wire = { fetch, signal }
    if (settings.grant !== 'authorization_code') {
      const there = await clientAt(server, settings, this.#kept, undefined, wire)
      const scopes = this.#scopes(resource, server, challenge, false)
      const response = await grantWithoutPerson({ server, there, resource: resource.resource, scopes }, settings, wire)
      this.#take(response, { there, scopes }, server, resource)
      return true
    }
    if (browser === undefined) throw new AuthFault('LOGIN_NEEDED', 'a person has to log in')
    const request = await this.#request(resource, server, challenge, browser.redirectUri, signal)
    const back = await browser.visit(request.url, signal)
    this.#take(await request.redeem(back, wire), request, server, resource)
    return true
  }

  async #refreshed(server: AuthorizationServer, signal: AbortSignal): Promise<boolean> {
    const { fetch, settings } = this.#options
    const { tokens } = this.#kept
    if (tokens?.refresh === undefined) return false
    const wire = { fetch, signal }
    const there = await clientAt(server, settings, this.#kept, undefined, wire)
    if (there.client.client_id !== tokens.clientId) return false
    const result = await refresh({ server, there, resource: tokens.resource }, tokens.refresh, wire)
    if (result.kind === 'tokens') {
      this.#save(result.response, tokens)
      return true
    }
    const clients = Object.entries(this.#kept.clients).filter(([at]) => !result.clientToo || at !== server.issuer)
    this.#keep({ ...this.#kept, tokens: undefined, clients: Object.fromEntries(clients) })
    return false
  }

  async #discover(
    challenge: Challenge | undefined,
    signal: AbortSignal,
  ): Promise<{ resource: ProtectedResource; server: AuthorizationServer }> {
    const { fetch, settings } = this.#options
    const named = challenge?.resourceMetadata
    const resource = await readResourceMetadata(this.#server, named, settings.resource, fetch, signal)
    const { issuers } = resource
    const wanted = settings.issuer ?? this.#kept.tokens?.issuer
    const issuer = wanted !== undefined && issuers.includes(wanted) ? wanted : issuers[0]!
    if (settings.issuer !== undefined && issuer !== settings.issuer)
      throw new AuthFault('NO_CLIENT', 'the server does not name the authorization server of the configuration')
    return { resource, server: await readServerMetadata(issuer, fetch, signal) }
  }

  async #request(
    resource: ProtectedResource,
    server: AuthorizationServer,
    challenge: Challenge | undefined,
    redirectUri: string,
    signal: AbortSignal,
  ): Promise<AuthorizationRequest & { there: ClientThere; scopes: readonly string[] | undefined }> {
    const { fetch, settings } = this.#options
    const scopes = this.#scopes(resource, server, challenge, true)
    const there = await clientAt(server, settings, this.#kept, redirectUri, { fetch, signal })
    if (there.registered !== undefined)
      this.#keep({ ...this.#kept, clients: { ...this.#kept.clients, [server.issuer]: there.registered } })
    const { client, auth } = there
    const asked = { server, client, auth, redirectUri, resource: resource.resource, scopes, now: this.#now }
    return { ...(await requestAuthorization(asked)), there, scopes }
  }

  #scopes(
    resource: ProtectedResource,
    server: AuthorizationServer,
    challenge: Challenge | undefined,
    offline: boolean,
  ): readonly string[] | undefined {
    return scopesToAsk({
      challenged: challenge?.scope,
      offered: resource.scopes,
      allowed: this.#options.settings.scopes,
      had: this.#kept.tokens?.scopes ?? [],
      server: server.scopes_supported,
      offline,
    })
  }

  #take(
    response: TokenEndpointResponse,
    { there, scopes }: { readonly there: ClientThere; readonly scopes: readonly string[] | undefined },
    server: AuthorizationServer,
    { resource }: ProtectedResource,
  ): void {
    this.#save(response, {
      issuer: server.issuer,
      clientId: there.client.client_id,
      resource,
      scopes: scopes ?? [],
    })
    this.#wanted = undefined
    this.#problem = undefined
  }

  #save(response: TokenEndpointResponse, about: Omit<KeptTokens, 'access' | 'expiresAt'>): void {
    if (response.token_type !== 'bearer')
      throw new AuthFault('RESPONSE_REFUSED', 'the authorization server gave a token of another type')
    const { access_token: access, refresh_token: refresh = about.refresh, expires_in: seconds, scope } = response
    const { issuer, clientId, resource } = about
    const byHand = this.#options.settings.client !== undefined
    this.#keep({
      ...this.#kept,
      ...(byHand && { boundTo: issuer }),
      tokens: {
        issuer,
        clientId,
        resource,
        access,
        ...(refresh !== undefined && { refresh }),
        ...(seconds !== undefined && { expiresAt: this.#now() + seconds * 1000 }),
        scopes: scope === undefined ? about.scopes : scope.split(' ').filter((it) => it !== ''),
      },
    })
  }

  #keep({ tokens, ...rest }: Omit<Kept, 'tokens'> & { readonly tokens?: KeptTokens | undefined }): void {
    this.#kept = { ...rest, ...(tokens !== undefined && { tokens }) }
    this.#options.vault.write(this.#kept)
    this.#tell()
  }

  #tell(): void {
    const { access, refresh } = this.#kept.tokens ?? {}
    for (const token of [access, refresh]) if (token !== undefined) this.#options.onSecret?.(new Secret(token))
  }
}
