import { digest, type Digest } from '../words/digest.ts'
import { type Facts, refuse, type Refusal } from '../words/verdict.ts'
import type { Credential, Identities, Principal } from '../flow/principal/principal.ts'

/** A principal that a bearer token proves. Only the token's digest is kept. */
export interface TokenHolder {
  readonly tokenDigest: Digest
  readonly principal: Omit<Principal, 'proof'>
}

/** The shortest token that is taken: 128 bits in base64url. A shorter one is a password, and could be guessed. */
export const TOKEN_LENGTH = 22

const NOT_OURS: Facts = Object.freeze({ why: 'the token is not one of this gateway' })

/**
 * Knows the local user and the holders of tokens. A token is looked up by its digest, so that comparing takes no longer for
 * one that is nearly right.
 */
export class TokenIdentities implements Identities {
  readonly #local: Principal
  readonly #holders: ReadonlyMap<Digest, Principal>
  readonly #byId: ReadonlyMap<string, Principal>
  /** Tokens that were looked up before; only right ones get in, so there are never more than holders. */
  readonly #proved = new Map<string, Principal>()

  constructor(local: Omit<Principal, 'proof'>, holders: readonly TokenHolder[]) {
    this.#local = Object.freeze({ ...local, proof: 'socket' })
    this.#holders = new Map(
      holders.map(({ tokenDigest, principal }) => [
        tokenDigest,
        Object.freeze({ ...principal, proof: 'token' as const }),
      ]),
    )
    this.#byId = new Map(
      [this.#local, ...this.#holders.values()].map((principal) => [
        principal.id,
        { ...principal, proof: 'library' as const },
      ]),
    )
  }

  verify(credential: Credential, now: number): Principal | Refusal {
    switch (credential.kind) {
      case 'none':
        return refuse('NO_IDENTITY', {})
      case 'socket':
        return this.#local
      case 'library':
        return standing(this.#byId.get(credential.principal), now, { principal: credential.principal })
      case 'bearer': {
        const token = credential.token.reveal()
        const proved = this.#proved.get(token)
        if (proved !== undefined) return standing(proved, now, NOT_OURS)
        const holder = token.length < TOKEN_LENGTH ? undefined : this.#holders.get(digest(token))
        if (holder !== undefined) this.#proved.set(token, holder)
        return standing(holder, now, NOT_OURS)
      }
      default:
        return credential satisfies never
    }
  }
}

/** What expired is told apart from what never was, so that whoever holds it knows to get a new one. */
function standing(found: Principal | undefined, now: number, unknown: Facts): Principal | Refusal {
  if (found === undefined) return refuse('NO_IDENTITY', unknown)
  if (found.expiresAt !== undefined && found.expiresAt <= now)
    return refuse('IDENTITY_EXPIRED', { principal: found.id })
  return found
}
