import { createPublicKey, hash, type KeyObject, sign } from 'node:crypto'

/** The 32 bytes of an Ed25519 public key, in hex. */
export function rawKey(key: KeyObject): string {
  const der = (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' })
  return der.subarray(-32).toString('hex')
}

/** SHA-256 of the raw public key, shortened: what a person compares. */
export function fingerprint(key: KeyObject | string): string {
  const raw = typeof key === 'string' ? key : rawKey(key)
  return hash('sha256', Buffer.from(raw, 'hex'), 'hex').slice(0, 16)
}

/** What the key before signs of the key after it. */
export function signSuccession(ledger: string, epoch: number, next: string, before: KeyObject): string {
  const text = `countersign/${ledger}\nkey ${epoch} ${next}\n`
  return sign(null, Buffer.from(text, 'utf8'), before).toString('hex')
}
