import { AuthFault } from './fault.ts'

export interface ScopeSources {
  /** Of the challenge, as it came. */
  readonly challenged: string | undefined
  /** `scopes_supported` of the protected resource. */
  readonly offered: readonly string[] | undefined
  /** What the operator allows; nothing else is asked for then. */
  readonly allowed: readonly string[] | undefined
  /** What was asked for or granted before: a step up keeps it. */
  readonly had: readonly string[]
  /** `scopes_supported` of the authorization server. */
  readonly server: readonly string[] | undefined
  /** Would a refresh token be of use? Not where we can get a new token without a person. */
  readonly offline: boolean
}

/**
 * The scope to ask for (2026-07-28, "Scope Selection Strategy"): what the challenge says, else what the resource offers, else
 * none at all; `offline_access` on top where the authorization server knows it. Undefined: the parameter is left out.
 */
export function scopesToAsk(from: ScopeSources): readonly string[] | undefined {
  const challenged = split(from.challenged)
  const initial = challenged ?? from.allowed ?? from.offered
  const wanted = new Set([...from.had, ...(initial ?? [])])
  wanted.delete('offline_access')
  const beyond = from.allowed === undefined ? undefined : [...wanted].find((scope) => !from.allowed!.includes(scope))
  if (beyond !== undefined)
    throw new AuthFault(
      'DENIED',
      `the server asks for the scope ${quoted(beyond)}, which the configuration does not allow`,
    )
  if (wanted.size === 0) return undefined
  if (from.offline && from.server?.includes('offline_access') === true) wanted.add('offline_access')
  return [...wanted]
}

/** Does the challenge ask for anything that the token does not have yet? If not, a step up would end where it began. */
export function stepsUp(challenged: string | undefined, has: readonly string[]): boolean {
  return split(challenged)?.some((scope) => !has.includes(scope)) === true
}

/** RFC 6749 §3.3; anything else is as if no scope had been named. */
export function split(scope: string | undefined): readonly string[] | undefined {
  if (scope === undefined || scope.length > 4096) return undefined
  const scopes = scope.split(' ').filter((it) => it !== '')
  return scopes.length > 0 && scopes.every((it) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(it)) ? scopes : undefined
}

function quoted(scope: string): string {
  return JSON.stringify(scope.slice(0, 80))
}
