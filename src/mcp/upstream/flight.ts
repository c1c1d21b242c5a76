import type { Sending, WireOutcome } from '../../flow/receipt/receipt.ts'
import { givenUp } from './ask.ts'
import type { Ended, Leg, LegRequest, Link } from './link.ts'

/** After the hard deadline nobody waits any more, and yet the answer is the best evidence: it is listened for a while. */
const TAIL_MS = 60_000

/** The longest that a timer of Node can be set to. */
const LONGEST_MS = 2 ** 31 - 1

/** A call whose deadlines can be held while its server waits for somebody else. */
export interface Pausable {
  pause(): void
  resume(): void
}

export interface Ground {
  readonly link: Link
  /** Called before anything is sent. */
  readonly begun?: (call: Pausable) => void
  /** Called once, when nothing is listened for any more. */
  readonly landed: () => void
  /** Called where the caller left and the upstream should know. */
  readonly abandoned: () => void
}

/**
 * One governed call under way. The caller has its outcome at the soft deadline at the latest; the leg stays open, and what
 * comes of it is handed in late: an answer, or at the hard deadline that there was none. Sent once, here, and never again.
 */
export function fly(ground: Ground, request: Omit<LegRequest, 'end'>, sending: Sending): Promise<Ended> {
  return new Promise((resolve) => {
    void new Flight(ground, request, sending, resolve)
  })
}

class Flight {
  readonly #ground: Ground
  readonly #sending: Sending
  readonly #began = performance.now()
  #resolve: ((ended: Ended) => void) | undefined
  #leg: Leg | undefined
  #timer: NodeJS.Timeout | undefined
  #over = false
  #asked = 0
  #pausedAt = 0
  #pausedMs = 0
  /** The caller was told that it is still listened for, and is owed the rest. */
  #owed = false

  constructor(ground: Ground, request: Omit<LegRequest, 'end'>, sending: Sending, resolve: (ended: Ended) => void) {
    this.#ground = ground
    this.#sending = sending
    this.#resolve = resolve
    if (sending.signal?.aborted === true) {
      this.#land({ kind: 'not-sent', why: 'the caller had left before it was sent' })
      return
    }
    ground.begun?.(this)
    const leg = ground.link.open({ ...request, end: (ended) => this.#end(ended) })
    this.#leg = leg
    if (this.#over) return
    if (this.#asked === 0) this.#startSoft()
    sending.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Until it is resumed as often, no deadline of this call runs. How long that may be is bounded by whoever asks. */
  pause(): void {
    if (this.#asked++ > 0) return
    this.#pausedAt = performance.now()
    clearTimeout(this.#timer)
  }

  resume(): void {
    if (--this.#asked > 0 || this.#over) return
    this.#pausedMs += performance.now() - this.#pausedAt
    if (this.#resolve !== undefined) this.#startSoft()
    else if (this.#owed) this.#startHard()
  }

  #startSoft(): void {
    const { softDeadlineMs, hardDeadlineMs } = this.#sending
    const left = Math.min(softDeadlineMs, hardDeadlineMs) - this.#ranMs()
    this.#timer = setTimeout(this.#onSoftDeadline, shortest(Math.max(0, left)))
  }

  #startHard(): void {
    const rest = this.#sending.hardDeadlineMs - this.#ranMs()
    if (rest <= 0) this.#onHardDeadline()
    else this.#timer = setTimeout(this.#onHardDeadline, shortest(rest)).unref()
  }

  #ranMs(): number {
    return performance.now() - this.#began - this.#pausedMs
  }

  #end(ended: Ended): void {
    const { outcome } = ended
    if (this.#resolve !== undefined) {
      this.#close()
      this.#answer(ended)
    } else {
      this.#close()
      if (this.#owed || outcome.kind === 'reply' || outcome.kind === 'error') this.#sending.onLate(outcome)
    }
  }

  readonly #onSoftDeadline = (): void => {
    if (this.#dropIfUnsent('it waited for a free connection until the deadline')) return
    const { softDeadlineMs, hardDeadlineMs } = this.#sending
    if (hardDeadlineMs <= softDeadlineMs || hardDeadlineMs <= this.#ranMs()) {
      this.#answer({ outcome: { kind: 'no-answer', why: 'deadline', detail: 'no answer before the hard deadline' } })
      this.#listenOn()
      return
    }
    this.#owed = true
    this.#startHard()
    const detail = 'no answer in time; it is still listened for'
    this.#answer({ outcome: { kind: 'no-answer', why: 'deadline', detail, listening: true } })
  }

  readonly #onHardDeadline = (): void => {
    this.#owed = false
    this.#listenOn()
    this.#sending.onLate({ kind: 'no-answer', why: 'deadline', detail: 'no answer before the hard deadline' })
  }

  #listenOn(): void {
    // A read that nobody waits for any more has no evidence to give.
    if (this.#sending.signal !== undefined) {
      this.#leg?.drop()
      this.#close()
      return
    }
    this.#timer = setTimeout(
      () => {
        this.#leg?.drop()
        this.#close()
      },
      shortest(TAIL_MS, this.#sending.hardDeadlineMs),
    ).unref()
  }

  readonly #onAbort = (): void => {
    if (this.#dropIfUnsent('the caller left before it was sent')) return
    this.#ground.abandoned()
    this.#leg?.drop()
    this.#land(givenUp(this.#sending.signal!))
  }

  #dropIfUnsent(why: string): boolean {
    if (this.#leg?.sent !== false) return false
    this.#leg.drop()
    this.#land({ kind: 'not-sent', why })
    return true
  }

  #land(outcome: WireOutcome): void {
    this.#close()
    this.#answer({ outcome })
  }

  #answer(ended: Ended): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    resolve?.(ended)
  }

  #close(): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#sending.signal?.removeEventListener('abort', this.#onAbort)
    this.#ground.landed()
  }
}

function shortest(...delays: readonly number[]): number {
  return Math.min(LONGEST_MS, ...delays)
}
