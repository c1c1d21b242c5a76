import {
  createLocalJWKSet,
  type CryptoKey,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type FlattenedJWSInput,
} from 'jose'
import { fetchDocument } from '../client/documents.ts'
import { readServerMetadata } from '../client/server-metadata.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'

/** Keys are asked for again after this, and a key that is not known asks for them at most this often. */
const FRESH_MS = 10 * 60_000
const COOLDOWN_MS = 30_000
/** While the issuer cannot be reached the keys that we have stay good, for so long. */
const STALE_MS = 60 * 60_000
const MOST_KEYS = 64

/** The signing keys of one issuer, as it publishes them now; rotated ones are found by themselves. */
export class KeySet {
  readonly #issuer: string
  readonly #fetch: SafeFetch
  readonly #now: () => number
  #keys: ReturnType<typeof createLocalJWKSet> | undefined
  #readAt = -Infinity
  #triedAt = -Infinity
  #reading: Promise<void> | undefined

  constructor(issuer: string, fetch: SafeFetch, now: () => number) {
    this.#issuer = issuer
    this.#fetch = fetch
    this.#now = now
  }

  /** For jose. Rejects with JWKSNoMatchingKey where the issuer has no such key. */
  async key(header: JWSHeaderParameters, input: FlattenedJWSInput, signal: AbortSignal): Promise<CryptoKey> {
    const age = this.#now() - this.#readAt
    if (age > FRESH_MS) await this.#read(signal).catch((fault: unknown) => this.#bear(fault))
    try {
      return await this.#keys!(header, input)
    } catch (fault) {
      const unknown = fault instanceof errors.JWKSNoMatchingKey
      if (!unknown || this.#now() - this.#triedAt < COOLDOWN_MS) throw fault
      await this.#read(signal)
      return this.#keys!(header, input)
    }
  }

  #bear(fault: unknown): void {
    if (this.#keys === undefined || this.#now() - this.#readAt > STALE_MS) throw fault
  }

  #read(signal: AbortSignal): Promise<void> {
    this.#triedAt = this.#now()
    return (this.#reading ??= this.#readOnce(signal).finally(() => (this.#reading = undefined)))
  }

  async #readOnce(signal: AbortSignal): Promise<void> {
    const server = await readServerMetadata(this.#issuer, this.#fetch, signal)
    if (server.jwks_uri === undefined) throw new Error('the issuer publishes no keys')
    const document = await fetchDocument(this.#fetch, server.jwks_uri, 'the keys of the issuer', signal)
    const keys = document?.['keys']
    if (!Array.isArray(keys) || keys.length > MOST_KEYS)
      throw new Error('the issuer publishes no keys that can be read')
    this.#keys = createLocalJWKSet(document as unknown as JSONWebKeySet)
    this.#readAt = this.#now()
  }
}
