import { isJsonObject, type JsonObject } from '../../words/json.ts'
import { SafeFetchFault } from '../safe-fetch/fault.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import { AuthFault } from './fault.ts'

/** A JSON object from an address that somebody named. Undefined: there is none there (any 4xx). Throws an AuthFault. */
export async function fetchDocument(
  fetch: SafeFetch,
  url: string | URL,
  what: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  let response: Response
  try {
    response = await fetch(url, { headers: { accept: 'application/json' }, signal })
  } catch (fault) {
    throw dialled(fault, what)
  }
  if (response.status >= 500) throw new AuthFault('UNREACHABLE', `${what} cannot be read now (HTTP ${response.status})`)
  if (!response.ok) return undefined
  try {
    const value: unknown = await response.json()
    if (isJsonObject(value)) return value
  } catch {
    // Said below.
  }
  throw new AuthFault('METADATA_REFUSED', `${what} is not a JSON object`)
}

/** A fault of the guarded fetch, in the words of this part. What was refused stays refused; what was not reached may be later. */
export function dialled(fault: unknown, what: string): unknown {
  if (!(fault instanceof SafeFetchFault)) return fault
  const passing = fault.code === 'UNREACHABLE' || fault.code === 'TOO_SLOW'
  return new AuthFault(passing ? 'UNREACHABLE' : 'METADATA_REFUSED', `${what}: ${fault.message}`)
}

export function textsOf(document: JsonObject, name: string): readonly string[] | undefined {
  const value = document[name]
  return Array.isArray(value) && value.every((it) => typeof it === 'string') ? (value as string[]) : undefined
}
