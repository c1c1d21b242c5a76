import type { Secret } from '../../words/secret.ts'
import { ModelFault } from '../port.ts'

/**
 * What a provider package threw, or put into its stream, as a ModelFault. Only a few members are read, and by name: the
 * whole error also holds the request.
 */
export function faultOf(thrown: unknown, key: Secret | undefined): ModelFault {
  if (thrown instanceof ModelFault) return thrown
  const about = readable(thrown)
  const status = typeof about['statusCode'] === 'number' ? about['statusCode'] : undefined
  const retryable = about['isRetryable'] === true || status === 429 || (status !== undefined && status >= 500)
  const said = typeof about['message'] === 'string' && about['message'] !== '' ? about['message'] : 'no reason given'
  const retryAfterMs = pauseAsked(about['responseHeaders'], Date.now())
  const text = status === undefined ? said : `HTTP ${status}: ${said}`
  return new ModelFault(masked(text, key).slice(0, 300).toWellFormed(), { retryable, status, retryAfterMs })
}

function readable(thrown: unknown): { readonly [member: string]: unknown } {
  return typeof thrown === 'object' && thrown !== null
    ? (thrown as { [member: string]: unknown })
    : { message: String(thrown) }
}

// Providers quote the request in their errors, and a proxy may quote its headers.
function masked(text: string, key: Secret | undefined): string {
  const plain = key?.reveal() ?? ''
  return plain.length < 4 ? text : text.replaceAll(plain, '[secret]')
}

/** `retry-after-ms`, or `retry-after` as seconds or as a date (RFC 9110 §10.2.3), in milliseconds from `now`. */
export function pauseAsked(headers: unknown, now: number): number | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  const exact = Number(values.get('retry-after-ms') ?? NaN)
  if (Number.isFinite(exact) && exact >= 0) return exact
  const asked = values.get('retry-after')
  if (asked === undefined) return undefined
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(asked)) return Number(asked) * 1000
  const date = Date.parse(asked)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
