import { Found, tampered } from './judgement.ts'
import { keyOf, type PublicKey } from './keys.ts'

export const format = 'countersign-evidence/2'

export interface Header {
  readonly ledger: string
  /** What was asked for; null where everything was. */
  readonly filter: object | null
  readonly keys: readonly PublicKey[]
  readonly checkpoint: string
}

/** Reads the first line of an export. Throws a Found where this verifier cannot read the file. */
export function readHeader(text: string): Header {
  const header = objectOf(text)
  if (header === undefined && text.startsWith(`{"line":"header","format":"${format}",`))
    throw tampered('the header cannot be read')
  if (header?.['line'] !== 'header' || typeof header['format'] !== 'string')
    throw new Found('unjudgeable', 'the first line is not the header of an export')
  if (header['format'] !== format) throw new Found('unjudgeable', `not an export of format ${format}`)
  const { ledger, filter, keys, checkpoint } = header
  if (
    typeof ledger !== 'string' ||
    typeof filter !== 'object' ||
    typeof checkpoint !== 'string' ||
    !Array.isArray(keys)
  )
    throw tampered('the header cannot be read')
  try {
    const read = keys.map((entry: { id?: unknown; publicKey?: unknown }) => {
      const key = keyOf(String(entry.publicKey))
      if (key.id !== entry.id) throw new TypeError('a key has another fingerprint than the header says')
      return key
    })
    if (read.length === 0) throw new TypeError('there is no key')
    return { ledger, filter, keys: read, checkpoint }
  } catch (fault) {
    throw tampered(`the header cannot be read: ${fault instanceof Error ? fault.message : String(fault)}`)
  }
}

export function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
