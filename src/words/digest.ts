import { createHash, hash } from 'node:crypto'

declare const digested: unique symbol
/** SHA-256 of bytes whose meaning the name of the field states; 64 lower-case hex digits. */
export type Digest = string & { readonly [digested]: true }

export function digest(bytes: string | Uint8Array): Digest {
  return hash('sha256', bytes, 'hex') as Digest
}

export function isDigest(text: string): text is Digest {
  return /^[0-9a-f]{64}$/.test(text)
}

/** A digest that an outsider cannot guess small values from: the salt stays with the value. */
export function commitment(salt: Uint8Array, bytes: string | Uint8Array): Digest {
  // In one piece for the small, and without a copy for the large.
  if (bytes.length > 4096) return createHash('sha256').update(salt).update(bytes).digest('hex') as Digest
  const value = typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes
  return hash('sha256', Buffer.concat([salt, value]), 'hex') as Digest
}
