import { errors, jwtVerify } from 'jose'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { KeySet } from './key-set.ts'
import { type Check, type IssuerRules, scopesOf } from './rules.ts'

/** RFC 9068: signature by a key of the issuer with an algorithm of the list, type, issuer, audience, expiry. */
export function jwtCheck(rules: IssuerRules, fetch: SafeFetch, now: () => number): Check {
  const keys = new KeySet(rules.issuer, fetch, now)
  return async (token, signal) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, (header, input) => keys.key(header, input, signal), {
        issuer: rules.issuer,
        audience: rules.resource,
        algorithms: [...rules.algorithms],
        requiredClaims: ['exp', 'sub', 'aud', 'iss'],
        clockTolerance: rules.clockSkewMs / 1000,
        currentDate: new Date(now()),
      })
      const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '') ?? ''
      // An ID token is signed by the same key; its type is another (RFC 9068 §2.1).
      if (!rules.types.includes(type)) return undefined
      const { sub, exp, scope } = payload
      if (sub === undefined || sub === '' || exp === undefined) return undefined
      return { subject: sub, expiresAt: exp * 1000 + rules.clockSkewMs, scopes: scopesOf(scope), claims: payload }
    } catch (fault) {
      if (fault instanceof errors.JOSEError) return undefined
      throw fault
    }
  }
}

export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)
}
