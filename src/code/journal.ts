import { type Digest, digest } from '../words/digest.ts'
import { newId } from '../words/id.ts'
import type { CallEnd } from './executor.ts'

/** Runs that can be taken up again, what of one is kept (in bytes), and programs of one owner at a time. */
const RUNS = 16
const BYTES = 4 << 20
const AT_ONCE = 2
const RUN = /^run_[0-9a-z]{26}$/

/**
 * What the calls of one run came to. A run that is taken up again is given the very answers that it was given before, reads
 * among them: only then does the same program come to the same calls, and so to no effect a second time.
 */
export class Journal {
  readonly run: string
  readonly startedAt: number
  running = false
  readonly #program: Digest
  readonly #ends = new Map<string, CallEnd>()
  readonly #times = new Map<string, number>()
  #bytes = 0

  constructor(program: string) {
    this.run = newId('run')
    this.startedAt = Date.now()
    this.#program = digest(program)
  }

  isOf(program: string): boolean {
    return digest(program) === this.#program
  }

  /** Too much was read to keep it: what is not known of a run cannot be left out of it. */
  get full(): boolean {
    return this.#bytes > BYTES
  }

  begin(): void {
    this.running = true
    this.#times.clear()
  }

  /** Names the next call of these arguments, in whatever order the calls of a program come: the first, the second, … of its kind. */
  nextKey(tool: string, argumentsText: string): string {
    const kind = digest(JSON.stringify([tool, argumentsText])).slice(0, 32)
    const n = (this.#times.get(kind) ?? 0) + 1
    this.#times.set(kind, n)
    return `code:${this.run}:${kind}:${n}`
  }

  found(key: string): CallEnd | undefined {
    return this.#ends.get(key)
  }

  keep(key: string, end: CallEnd): void {
    this.#bytes += Buffer.byteLength(end.ok ? end.text : end.message)
    if (!this.full) this.#ends.set(key, end)
    else this.#ends.clear()
  }
}

/** The runs of everybody, by owner. In memory: after a restart none can be taken up again, and that is said. */
export class Journals {
  readonly #runs = new Map<string, Journal>()
  readonly #running = new Map<string, number>()

  /** A new run, or an earlier one of the same owner and program; or why there is none. End it when it is over. */
  open(owner: string, program: string, resume: string | undefined): Journal | { readonly why: string } {
    const running = this.#running.get(owner) ?? 0
    if (running >= AT_ONCE) return { why: `${AT_ONCE} of your programs run already; try again when one has ended` }
    const journal = resume === undefined ? new Journal(program) : this.#earlier(owner, program, resume)
    if ('why' in journal) return journal
    const key = `${owner}\n${journal.run}`
    this.#runs.delete(key)
    this.#runs.set(key, journal)
    for (const [oldest, { running: busy }] of this.#runs) {
      if (this.#runs.size <= RUNS) break
      if (!busy) this.#runs.delete(oldest)
    }
    this.#running.set(owner, running + 1)
    journal.begin()
    return journal
  }

  end(owner: string, journal: Journal): void {
    journal.running = false
    const running = (this.#running.get(owner) ?? 1) - 1
    if (running > 0) this.#running.set(owner, running)
    else this.#running.delete(owner)
  }

  #earlier(owner: string, program: string, run: string): Journal | { readonly why: string } {
    const gone = 'is not known any more. What it did is on record; look before you begin anew'
    if (!RUN.test(run)) return { why: '`resume` is no name of a run' }
    const journal = this.#runs.get(`${owner}\n${run}`)
    if (journal === undefined) return { why: `${run} ${gone}` }
    if (journal.running) return { why: `${run} runs still` }
    if (!journal.isOf(program)) return { why: `${run} was a run of another program` }
    if (journal.full) return { why: `${run} read too much for all of it to be kept, so it cannot be taken up again` }
    return journal
  }
}
