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

const BLOCK = 64
const SMALL = 4096
const inner = Buffer.alloc(BLOCK + SMALL)
const outer = Buffer.alloc(BLOCK + 32)

/**
 * HMAC-SHA-256 (RFC 2104 §2) under a salt of 32 bytes: an outsider cannot guess small values from it, and whoever is given
 * salt and value can check it. Made of the library's one-shot hash: in Node 24 an Hmac object costs thirty times as much.
 */
export function commitment(salt: Uint8Array, bytes: string | Uint8Array): Digest {
  if (salt.length !== 32) throw new TypeError('a salt has 32 bytes')
  for (let n = 0; n < 32; n++) {
    inner[n] = salt[n]! ^ 0x36
    outer[n] = salt[n]! ^ 0x5c
  }
  inner.fill(0x36, 32, BLOCK)
  outer.fill(0x5c, 32, BLOCK)
  outer.write(innerHash(bytes), BLOCK, 'hex')
  return hash('sha256', outer, 'hex') as Digest
}

// In one piece for the small, and without a copy for the large.
function innerHash(bytes: string | Uint8Array): string {
  const length = typeof bytes === 'string' ? Buffer.byteLength(bytes, 'utf8') : bytes.length
  if (length > SMALL) return createHash('sha256').update(inner.subarray(0, BLOCK)).update(bytes).digest('hex')
  if (typeof bytes === 'string') inner.write(bytes, BLOCK, 'utf8')
  else inner.set(bytes, BLOCK)
  return hash('sha256', inner.subarray(0, BLOCK + length), 'hex')
}
