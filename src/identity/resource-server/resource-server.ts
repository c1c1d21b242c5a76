import type { Credential, Identities, Principal } from '../../flow/principal/principal.ts'
import { digest } from '../../words/digest.ts'
import { refuse, type Refusal } from '../../words/verdict.ts'
import type { Secret } from '../../words/secret.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { Bounded } from './bounded.ts'
import { introspectionCheck } from './introspection.ts'
import { isJwt, jwtCheck } from './jwt.ts'
import type { Check, Checked, IssuerRules } from './rules.ts'

const MOST_GOOD = 10_000
const MOST_BAD = 10_000
/** An issuer takes a token back within this, where it says so by introspection. */
const OPAQUE_MS = 60_000
const BAD_MS = 10_000
const CHECK_MS = 10_000
const MOST_AT_ONCE = 64
const LONGEST_TOKEN = 16_384

export interface ResourceServerOptions {
  readonly issuers: readonly IssuerRules[]
  readonly fetch: (rules: IssuerRules) => SafeFetch
  readonly now?: () => number
}

interface Issuer {
  readonly rules: IssuerRules
  readonly jwt: Check
  readonly opaque: Check
}

/**
 * Proves principals by access tokens of authorization servers. `admit` does what takes time, before a request is read; the gate
 * asks `verify`, which looks up what was admitted. Kept are digests of tokens, never tokens.
 */
export class ResourceServer implements Identities {
  readonly #others: Identities
  readonly #issuers: readonly Issuer[]
  readonly #now: () => number
  readonly #good = new Bounded<Principal>(MOST_GOOD)
  readonly #bad = new Bounded<true>(MOST_BAD)
  readonly #checking = new Map<string, Promise<void>>()

  constructor(others: Identities, { issuers, fetch, now = Date.now }: ResourceServerOptions) {
    this.#others = others
    this.#now = now
    this.#issuers = issuers.map((rules) => ({
      rules,
      jwt: jwtCheck(rules, fetch(rules), now),
      opaque: introspectionCheck(rules, fetch(rules), now),
    }))
  }

  verify(credential: Credential, now: number): Principal | Refusal {
    const others = this.#others.verify(credential, now)
    if (credential.kind !== 'bearer' || !('code' in others) || others.code !== 'NO_IDENTITY') return others
    const found = this.#good.get(digest(credential.token.reveal()), now)
    if (found === undefined) return others
    return found.expiresAt! <= now ? refuse('IDENTITY_EXPIRED', { principal: found.id }) : found
  }

  /** Resolves when `verify` can tell. An issuer that cannot be reached admits nobody. */
  readonly admit = (token: Secret): Promise<void> => {
    const text = token.reveal()
    if (text.length > LONGEST_TOKEN) return Promise.resolve()
    const key = digest(text)
    const now = this.#now()
    if (this.#good.get(key, now) !== undefined || this.#bad.get(key, now) !== undefined) return Promise.resolve()
    const running = this.#checking.get(key)
    if (running !== undefined) return running
    // Somebody who sends made-up tokens must not make us ask an issuer without end.
    if (this.#checking.size >= MOST_AT_ONCE) return Promise.resolve()
    const checked = this.#check(text, key).finally(() => this.#checking.delete(key))
    this.#checking.set(key, checked)
    return checked
  }

  async #check(token: string, key: string): Promise<void> {
    const signal = AbortSignal.timeout(CHECK_MS)
    const jwt = isJwt(token)
    const issuers = jwt ? this.#issuers.filter(({ rules }) => rules.issuer === issuerOf(token)) : this.#issuers
    for (const issuer of issuers) {
      const checked = await (jwt ? issuer.jwt : issuer.opaque)(token, signal).catch(() => undefined)
      if (checked === undefined) continue
      const until = jwt ? checked.expiresAt : Math.min(checked.expiresAt, this.#now() + OPAQUE_MS)
      const principal = principalOf(checked, issuer.rules)
      if (principal !== undefined) return this.#good.set(key, principal, until)
    }
    this.#bad.set(key, true, this.#now() + BAD_MS)
  }
}

// Not believed: it only says by whose keys the token is to be checked.
function issuerOf(jwt: string): unknown {
  try {
    return (JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString('utf8')) as { iss?: unknown }).iss
  } catch {
    return undefined
  }
}

/**
 * The host of the issuer goes before the subject: a subject means nothing without who says it, and no name in the configuration
 * holds a slash. Undefined where a claim that decides about the tenant is not there.
 */
function principalOf({ subject, expiresAt, scopes, claims }: Checked, rules: IssuerRules): Principal | undefined {
  const tenant = rules.tenantClaim === undefined ? rules.tenant : claims[rules.tenantClaim]
  if (typeof tenant !== 'string' || tenant === '' || subject.length > 256 || tenant.length > 256) return undefined
  const groups = rules.groupsClaim === undefined ? [] : claims[rules.groupsClaim]
  return Object.freeze({
    id: `${new URL(rules.issuer).host}/${subject}`,
    tenant,
    // A client that acts for itself is its own subject (RFC 9068 §2.2).
    kind: claims['client_id'] === subject ? 'service' : 'user',
    groups: Object.freeze(
      Array.isArray(groups) ? groups.filter((it): it is string => typeof it === 'string').slice(0, 256) : [],
    ),
    scopes: Object.freeze(scopes),
    proof: 'token',
    expiresAt,
  })
}
