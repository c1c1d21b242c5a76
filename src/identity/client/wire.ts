import * as oauth from 'oauth4webapi'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { dialled } from './documents.ts'
import { AuthFault } from './fault.ts'

export interface Wire {
  readonly fetch: SafeFetch
  readonly signal: AbortSignal
}

/** Options for a request of oauth4webapi over the guarded fetch, which is the one to judge schemes. */
export function wireOf({ fetch, signal }: Wire): {
  [oauth.customFetch]: (
    url: string,
    options: { method: string; headers: Record<string, string>; body?: unknown },
  ) => Promise<Response>
  [oauth.allowInsecureRequests]: true
  signal: AbortSignal
} {
  return {
    [oauth.customFetch]: (url, { method, headers, body }) =>
      fetch(url, { method, headers, body: (body as URLSearchParams | string | undefined) ?? null, signal }),
    [oauth.allowInsecureRequests]: true,
    signal,
  }
}

/** A refusal of the authorization server keeps its code, which is one of a few words; its text is a stranger's and stays out. */
export function tokenFault(fault: unknown, what: string): unknown {
  if (fault instanceof AuthFault) return fault
  if (fault instanceof oauth.ResponseBodyError) {
    const code = /^[a-z_]{1,40}$/.test(fault.error) ? fault.error : 'an error'
    return new AuthFault(fault.status >= 500 ? 'UNREACHABLE' : 'DENIED', `${what} (${code})`)
  }
  if (fault instanceof oauth.WWWAuthenticateChallengeError)
    return new AuthFault('DENIED', `${what} (HTTP ${fault.status})`)
  if (fault instanceof oauth.OperationProcessingError) {
    const status = fault.cause instanceof Response ? fault.cause.status : 0
    return new AuthFault(status >= 500 ? 'UNREACHABLE' : 'RESPONSE_REFUSED', `${what}: the answer cannot be used`)
  }
  return dialled(fault, what)
}

export function errorOf(fault: unknown): string | undefined {
  return fault instanceof oauth.ResponseBodyError ? fault.error : undefined
}
