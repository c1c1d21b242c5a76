import type { Secret } from '../../words/secret.ts'

/** Shorter ones are words that any text may hold. */
const SHORTEST = 8
const MOST = 512
const MARK = '[secret]'

/**
 * The secrets that were handed to servers. What comes back from a server and holds one of them, as it is, in base64, in a URL or in
 * JSON, goes no further with it.
 */
export class KnownSecrets {
  readonly #forms = new Map<string, readonly string[]>()

  add(secret: Secret): void {
    const value = secret.reveal()
    // `Bearer x` is told by x alone.
    for (const one of [value, value.replace(/^\w+ +/, '')]) {
      if (one.length < SHORTEST || this.#forms.has(one)) continue
      this.#forms.set(one, formsOf(one))
      if (this.#forms.size <= MOST) continue
      const [oldest] = this.#forms.keys()
      this.#forms.delete(oldest!)
    }
  }

  /** The same text where there is nothing of a secret in it. */
  scrub(text: string): string {
    let clean = text
    for (const forms of this.#forms.values())
      for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, MARK)
    return clean
  }

  scrubBytes(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const found = [...this.#forms.values()].some((forms) => forms.some((form) => buffer.includes(form)))
    return found ? Buffer.from(this.scrub(buffer.toString('utf8'))) : bytes
  }
}

function formsOf(value: string): readonly string[] {
  const forms = new Set([value, encodeURIComponent(value), new URLSearchParams([['', value]]).toString().slice(1)])
  forms.add(JSON.stringify(value).slice(1, -1))
  // In the middle of a longer text the same bytes have three spellings in base64, without the letters that depend on neighbours.
  const bytes = Buffer.from(value)
  for (const before of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const whole = Math.floor(((before + bytes.length) * 8) / 6)
    const inner = text.slice(before === 0 ? 0 : before + 1, whole)
    if (inner.length >= SHORTEST)
      for (const form of [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]) forms.add(form)
  }
  forms.add(bytes.toString('hex'))
  return [...forms].filter((form) => form.length >= SHORTEST).toSorted((a, b) => b.length - a.length)
}
