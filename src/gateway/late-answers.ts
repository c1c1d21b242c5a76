import type { Answer } from '../flow/answer.ts'

type Kept = Extract<Answer, { kind: 'answered' }>

const MOST = 256
const MOST_BYTES = 16 << 20
const MOST_DUE = 10_000

/**
 * Answers that came after their callers had been told that nobody knows yet, as the result gate let them pass. Kept for
 * whoever waits for the operation; the oldest go first, and with the process all of them, since the ledger has what was said.
 */
export class LateAnswers {
  readonly #kept = new Map<string, Kept>()
  /** Still listened to, or being judged. */
  readonly #due = new Set<string>()
  #bytes = 0

  expect(operation: string): void {
    if (this.#due.size < MOST_DUE) this.#due.add(operation)
  }

  isDue(operation: string): boolean {
    return this.#due.has(operation)
  }

  keep(operation: string, answer: Answer): void {
    this.#due.delete(operation)
    if (answer.kind !== 'answered') return
    this.#kept.set(operation, answer)
    this.#bytes += answer.accepted.bytes.length
    for (const [oldest, { accepted }] of this.#kept) {
      if (this.#kept.size <= MOST && this.#bytes <= MOST_BYTES) break
      this.#kept.delete(oldest)
      this.#bytes -= accepted.bytes.length
    }
  }

  of(operation: string): Kept | undefined {
    return this.#kept.get(operation)
  }
}
