import type { Secret } from '../../words/secret.ts'
import type { Refusal } from '../../words/verdict.ts'
import type { Proposal } from '../proposal/proposal.ts'

export interface Principal {
  readonly id: string
  readonly tenant: string
  readonly kind: 'user' | 'service'
  readonly groups: readonly string[]
  /** What the token was granted, where it is one of OAuth. */
  readonly scopes?: readonly string[]
  /** How it was proved: `socket` (the operating system vouches for the user), `token`, `library`. */
  readonly proof: 'socket' | 'token' | 'library'
  /** Milliseconds since 1970; absent where the credential does not expire. */
  readonly expiresAt?: number
}

/** What came with the call to prove who asks. There is no kind that means "nobody in particular". */
export type Credential =
  | { readonly kind: 'bearer'; readonly token: Secret }
  | { readonly kind: 'socket' }
  | { readonly kind: 'library'; readonly principal: string }
  | { readonly kind: 'none' }

export interface Presented {
  readonly proposal: Proposal
  readonly credential: Credential
}

export interface Identified {
  readonly proposal: Proposal
  readonly principal: Principal
}

/** The port of the principal gate. Throws never: what it cannot verify it refuses. */
export interface Identities {
  verify(credential: Credential, now: number): Principal | Refusal
}
