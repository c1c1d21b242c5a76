import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { canonical } from '../../words/canonical.ts'
import { type Digest, digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'

/**
 * What a modern client carries for us from the question to its answer. It is not a permission: the call is judged again
 * from the first gate. It only says which question the answer belongs to, and for whom and what it was asked.
 */
export interface RequestState {
  /** What its answer belongs to: a question of ours, or what a server asks while the call is under way. */
  readonly subject:
    | { readonly kind: 'approval'; readonly id: string }
    | { readonly kind: 'parked'; readonly id: string }
  readonly tenant: string
  readonly principal: string
  /** Of the method and its parameters, as in `requestDigest`. */
  readonly request: Digest
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

const FORM = 1
const IV = 12
const TAG = 16
const ABOUT = Buffer.from('countersign/requestState/1', 'latin1')
// Longer ones are not ours; what is ours stays far below.
const LONGEST = 4096

/** Encrypted and authenticated (AES-256-GCM), since whoever holds it may neither read nor change it. */
export function seal(key: Uint8Array, state: RequestState): string {
  const iv = randomBytes(IV)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(ABOUT)
  const body = Buffer.concat([cipher.update(JSON.stringify(state), 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(FORM), iv, body, cipher.getAuthTag()]).toString('base64url')
}

/** Undefined for everything that was not sealed with this key, to the last bit. Expiry and owner are the caller's to check. */
export function unseal(key: Uint8Array, text: string): RequestState | undefined {
  if (text.length > LONGEST || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  // Base 64 has spare bits in its last character: only the one spelling that we wrote is taken.
  if (bytes.length <= 1 + IV + TAG || bytes[0] !== FORM || bytes.toString('base64url') !== text) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + IV), { authTagLength: TAG })
  decipher.setAAD(ABOUT)
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG))
  try {
    const body = Buffer.concat([decipher.update(bytes.subarray(1 + IV, bytes.length - TAG)), decipher.final()])
    return JSON.parse(body.toString('utf8')) as RequestState
  } catch {
    return undefined
  }
}

const OF_THE_ROUND = ['_meta', 'inputResponses', 'requestState']

/** Digest of what a retry must repeat: the method and all its parameters but those that differ from round to round. */
export function requestDigest(method: string, params: JsonObject): Digest {
  const same = Object.fromEntries(Object.entries(params).filter(([name]) => !OF_THE_ROUND.includes(name)))
  return digest(canonical({ method, params: same }, 128))
}
