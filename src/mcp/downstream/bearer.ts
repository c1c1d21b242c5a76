import type { Credential, Identities, Principal } from '../../flow/principal/principal.ts'
import { refusals } from '../../words/refusals.ts'
import { Secret } from '../../words/secret.ts'
import type { Refusal } from '../../words/verdict.ts'

/** Who asks, and what proves it; the flow asks for the proof again. */
export interface Asker {
  readonly kind: 'asker'
  readonly principal: Principal
  readonly credential: Credential
}

const NOTHING: Credential = Object.freeze({ kind: 'none' })
// RFC 6750 §2.1. A token in a query or a form is not looked for: addresses end up in logs.
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/** The token that was sent, where one was. */
export function bearerOf(authorization: string | undefined): Secret | undefined {
  const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  return token === undefined ? undefined : new Secret(token)
}

export function askerOf(authorization: string | undefined, identities: Identities, now: number): Asker | Refusal {
  const token = bearerOf(authorization)
  const credential: Credential = token === undefined ? NOTHING : { kind: 'bearer', token }
  const verified = identities.verify(credential, now)
  return 'code' in verified ? verified : { kind: 'asker', principal: verified, credential }
}

/** The challenge of RFC 6750 §3: an error is named only where a token was sent. */
export function challenge(refusal: Pick<Refusal, 'code'>): string {
  const { say } = refusals[refusal.code]
  return refusal.code === 'NO_IDENTITY'
    ? 'Bearer realm="countersign"'
    : `Bearer realm="countersign", error="invalid_token", error_description="${say}"`
}
