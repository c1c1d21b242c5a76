import type { Secret } from '../../words/secret.ts'

/** Whose access tokens are taken at our door, and what they mean here. */
export interface IssuerRules {
  readonly issuer: string
  /** What has to be in `aud`: we. */
  readonly resource: string
  /** Of signatures; only asymmetric ones. */
  readonly algorithms: readonly string[]
  /** Of JWTs: `at+jwt` (RFC 9068), unless the issuer gives another. */
  readonly types: readonly string[]
  readonly clockSkewMs: number
  /** Tenant of all who come from this issuer, unless a claim says it. */
  readonly tenant: string
  readonly tenantClaim?: string
  readonly groupsClaim?: string
  /** For tokens that are no JWT (RFC 7662). Absent: they are refused. */
  readonly introspection?: { readonly clientId: string; readonly clientSecret: Secret }
}

/** The claims of a token that was checked, by whichever way. */
export interface Checked {
  readonly subject: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly scopes: readonly string[]
  readonly claims: { readonly [name: string]: unknown }
}

/** Undefined: not a token that is good here. Throws where it cannot be told now. */
export type Check = (token: string, signal: AbortSignal) => Promise<Checked | undefined>

export function scopesOf(scope: unknown): readonly string[] {
  return typeof scope === 'string' && scope.length <= 8192 ? scope.split(' ').filter((it) => it !== '') : []
}
