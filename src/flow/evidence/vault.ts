import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto'

/** Whose payloads one data key seals: what is destroyed together. */
export interface Subject {
  readonly tenant: string
  readonly principal: string
}

/** Port: where data keys are kept. It lies outside the ledger's database, so that no copy of that brings a key back. */
export interface Vault {
  /** The key for what is written now; made where there is none. */
  keyFor(subject: Subject): DataKey
  /** The key that sealed something; undefined where it was destroyed. Throws where it is missing or damaged. */
  key(id: string): DataKey | undefined
  /** From now on `keyFor` answers another key. Answers those before it; what they sealed can be opened until `destroy`. */
  retire(subject: Subject): readonly string[]
  /** Makes all that the key sealed unreadable, for good. Again changes nothing. */
  destroy(id: string): void
}

const NONCE = 12
const TAG = 16
const LONGEST_NAME = 512

/** AES-256-GCM, and the salts of commitments, under one key. `about` says what is sealed and where it belongs. */
export class DataKey {
  readonly id: string
  readonly #seal: Buffer
  readonly #keyed: Keyed

  /** @param key 32 random bytes */
  constructor(id: string, key: Uint8Array) {
    this.id = id
    // One key for one use: what a salt gives away must say nothing of what is sealed.
    this.#seal = createHmac('sha256', key).update('seal').digest()
    this.#keyed = new Keyed(createHmac('sha256', key).update('salt').digest())
  }

  seal(about: string, body: Uint8Array | string): Uint8Array {
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv('aes-256-gcm', this.#seal, nonce).setAAD(Buffer.from(`${this.id} ${about}`, 'utf8'))
    const sealed = [cipher.update(typeof body === 'string' ? Buffer.from(body, 'utf8') : body), cipher.final()]
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed])
  }

  /** Throws where this is not what was sealed under this key for that. */
  open(about: string, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    const cipher = createDecipheriv('aes-256-gcm', this.#seal, bytes.subarray(0, NONCE))
      .setAAD(Buffer.from(`${this.id} ${about}`, 'utf8'))
      .setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
    return Buffer.concat([cipher.update(bytes.subarray(NONCE + TAG)), cipher.final()])
  }

  /**
   * The salts of the commitments to what was sent and what was answered: 32 bytes each that are random to whoever has not this
   * key, and gone with it. Derived rather than drawn, so that they need not be stored beside each value.
   */
  salts(operation: string): { readonly arguments: Uint8Array; readonly result: Uint8Array } {
    const both = this.#keyed.of(operation)
    return { arguments: both.subarray(0, 32), result: both.subarray(32) }
  }

  /** The salt of a commitment to anything else. */
  salt(about: string): Uint8Array {
    // A slash is in no name of an operation.
    return this.#keyed.of(`/${about}`).subarray(0, 32)
  }
}

/** HMAC-SHA-512 under one key (RFC 2104 §2), of the library's one-shot hash: an Hmac object costs many times as much. */
class Keyed {
  readonly #inner: Buffer
  readonly #outer: Buffer

  constructor(key: Uint8Array) {
    const padded = Buffer.alloc(128)
    padded.set(key)
    this.#inner = Buffer.concat([padded.map((byte) => byte ^ 0x36), Buffer.alloc(LONGEST_NAME)])
    this.#outer = Buffer.concat([padded.map((byte) => byte ^ 0x5c), Buffer.alloc(64)])
  }

  of(name: string): Buffer {
    const length = this.#inner.write(name, 128, 'utf8')
    if (length === LONGEST_NAME) throw new TypeError('a name is too long')
    // By way of hex: a buffer for each hash costs more than to read its text.
    this.#outer.write(hash('sha512', this.#inner.subarray(0, 128 + length), 'hex'), 128, 'hex')
    return Buffer.from(hash('sha512', this.#outer, 'hex'), 'hex')
  }
}
