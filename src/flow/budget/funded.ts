import type { Refusal } from '../../words/verdict.ts'
import type { Consented } from '../consent/consented.ts'

/** A reservation that stands until it is settled; settling twice is a fault. */
export interface Hold {
  readonly id: number
  /** What may still be spent by this call. */
  readonly wallMs: number
  readonly resultBytes: number
  settle(spent: Spent): void
  /** Nothing was spent: the call never left. */
  release(): void
}

export interface Spent {
  readonly wallMs: number
  readonly resultBytes: number
  /** What came back, by which progress is told from a loop. */
  readonly result?: Uint8Array
}

export interface Funded extends Consented {
  readonly hold: Hold
}

/** The port of the budget gate. */
export interface Budgets {
  hold(consented: Consented, now: number): Hold | Refusal
}
