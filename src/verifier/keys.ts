import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'

/** An Ed25519 public key as an export names it: its 32 bytes in hex, and the fingerprint that people compare. */
export interface PublicKey {
  readonly id: string
  /** 64 lower-case hex digits. */
  readonly raw: string
  readonly object: KeyObject
}

// SubjectPublicKeyInfo of Ed25519 is this and the 32 bytes (RFC 8410 §4).
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** Throws where the text is no key. */
export function keyOf(raw: string): PublicKey {
  if (!/^[0-9a-f]{64}$/.test(raw)) throw new TypeError('not an Ed25519 public key in hex')
  const bytes = Buffer.from(raw, 'hex')
  const object = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  return { id: hash('sha256', bytes, 'hex').slice(0, 16), raw, object }
}

export function keyOfPem(pem: string): PublicKey {
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' })
  if (der.length !== 44 || !der.subarray(0, 12).equals(SPKI)) throw new TypeError('not an Ed25519 public key')
  return keyOf(der.subarray(12).toString('hex'))
}

export function signedBy(key: PublicKey, text: string, signature: string): boolean {
  return (
    /^[0-9a-f]{128}$/.test(signature) &&
    verify(null, Buffer.from(text, 'utf8'), key.object, Buffer.from(signature, 'hex'))
  )
}

/** What the key before signs of the key after it. */
export function successionText(ledger: string, epoch: number, raw: string): string {
  return `countersign/${ledger}\nkey ${epoch} ${raw}\n`
}

/** The keys of a ledger in their order, as its own records hand them on. */
export class KeyLine {
  readonly #keys: readonly PublicKey[]
  readonly #ledger: string
  #epoch = 1
  /** The first epoch of the unbroken line that ends at the newest key. */
  #unbrokenFrom = 1

  constructor(ledger: string, keys: readonly PublicKey[]) {
    this.#ledger = ledger
    this.#keys = keys
  }

  /** The epoch that the last record handed on to. */
  get epoch(): number {
    return this.#epoch
  }
  get newest(): PublicKey {
    return this.#keys.at(-1)!
  }
  get brokenAt(): number | undefined {
    return this.#unbrokenFrom === 1 ? undefined : this.#unbrokenFrom
  }

  /** Reads a record of kind `ledger.key`. Answers what is wrong with it. */
  read(facts: unknown): string | undefined {
    const { epoch, publicKey, signature, broken } = (facts ?? {}) as Record<string, unknown>
    const before = this.#keys[this.#epoch - 1]
    const key = this.#keys[this.#epoch]
    this.#epoch++
    if (epoch !== this.#epoch || key === undefined || before === undefined || publicKey !== key.raw)
      return 'a record names a key that the list of keys does not have there'
    if (broken === true) {
      this.#unbrokenFrom = this.#epoch
      return undefined
    }
    return signedBy(before, successionText(this.#ledger, this.#epoch, key.raw), String(signature))
      ? undefined
      : `the key of epoch ${epoch} is not signed by the key before it`
  }

  /** Were all keys handed on by records? */
  get told(): boolean {
    return this.#epoch === this.#keys.length
  }

  /** Does trust in this key reach to the newest one? */
  reaches(trusted: PublicKey): boolean {
    const epoch = this.#keys.findIndex(({ raw }) => raw === trusted.raw) + 1
    return epoch >= this.#unbrokenFrom
  }
}
