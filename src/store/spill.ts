import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../words/id.ts'
import { refuse, type Refusal } from '../words/verdict.ts'
import type { Spill } from '../flow/result/accepted.ts'

interface Owner {
  readonly tenant: string
  readonly principal: string
}
interface Kept extends Owner {
  readonly file: string
  readonly bytes: number
  readonly expiresAt: number
}

const PREFIX = 'countersign://results/'

/**
 * Results that are too large to hand out, as files of the home that live for an hour at most and never longer than the
 * process. An address alone opens nothing: it is answered for its owner only, and looks unknown to anybody else.
 */
export class SpillFolder implements Spill {
  readonly #folder: string
  readonly #limitBytes: number
  readonly #lifeMs: number
  readonly #kept = new Map<string, Kept>()
  #total = 0

  constructor(home: string, { limitBytes = 256 << 20, lifeMs = 3_600_000 } = {}) {
    this.#folder = join(home, 'spill')
    this.#limitBytes = limitBytes
    this.#lifeMs = lifeMs
    rmSync(this.#folder, { recursive: true, force: true })
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  keep(owner: Owner, _operation: string, bytes: Uint8Array): string | Refusal {
    if (bytes.length > this.#limitBytes)
      return refuse('RESULT_TOO_LARGE', { bytes: bytes.length, limit: this.#limitBytes })
    this.#forget(Date.now(), bytes.length)
    const id = newId('spl')
    const file = join(this.#folder, id)
    try {
      writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' })
    } catch (fault) {
      // The call has run; that its result found no room must not look like a call that broke.
      return refuse('RESULT_TOO_LARGE', {
        bytes: bytes.length,
        why: (fault as NodeJS.ErrnoException).code ?? 'no room',
      })
    }
    const { tenant, principal } = owner
    this.#kept.set(id, { tenant, principal, file, bytes: bytes.length, expiresAt: Date.now() + this.#lifeMs })
    this.#total += bytes.length
    return PREFIX + id
  }

  /** A part of the text, counted in characters; undefined where there is none for this owner. */
  read(
    owner: Owner,
    uri: string,
    offset: number,
    limit: number,
  ): { text: string; mimeType: string; offset: number; total: number; next?: number } | undefined {
    const kept = uri.startsWith(PREFIX) ? this.#kept.get(uri.slice(PREFIX.length)) : undefined
    if (kept === undefined || kept.expiresAt <= Date.now()) return undefined
    if (kept.tenant !== owner.tenant || kept.principal !== owner.principal) return undefined
    const text = readFileSync(kept.file, 'utf8')
    const start = boundary(text, offset)
    const end = boundary(text, start + limit)
    const page = { text: text.slice(start, end), mimeType: 'application/json', offset: start, total: text.length }
    return end < text.length ? { ...page, next: end } : page
  }

  // Oldest first: identifiers sort by time, and the map keeps the order of insertion.
  #forget(now: number, wanted: number): void {
    for (const [id, { file, bytes, expiresAt }] of this.#kept) {
      if (expiresAt > now && this.#total + wanted <= this.#limitBytes) return
      rmSync(file, { force: true })
      this.#kept.delete(id)
      this.#total -= bytes
    }
  }
}

/** Never between the two halves of one character. */
function boundary(text: string, at: number): number {
  const place = Math.max(0, Math.min(at, text.length))
  const before = text.charCodeAt(place - 1)
  return before >= 0xd800 && before <= 0xdbff && place < text.length ? place + 1 : place
}
