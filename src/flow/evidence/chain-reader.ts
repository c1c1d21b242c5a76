import { Frontier } from './merkle.ts'
import { firstPrev, leafOf } from './record.ts'

/** Feeds record lines of a live ledger, in order, and tells the first that breaks the chain. */
export class ChainReader {
  readonly frontier = new Frontier()
  #prev = firstPrev
  #ledger: string | undefined

  get size(): number {
    return this.frontier.size
  }
  get head(): string {
    return this.#prev
  }

  /** Answers undefined when the line is the next record, else what is wrong with it. */
  read(line: string): string | undefined {
    const seq = this.frontier.size
    let record: { v?: unknown; ledger?: unknown; seq?: unknown; prev?: unknown }
    try {
      record = JSON.parse(line) as typeof record
    } catch {
      return `record ${seq} is not JSON`
    }
    if (record.v !== 1) return `record ${seq} has version ${String(record.v)}`
    if (record.seq !== seq) return `record ${seq} says that it is number ${String(record.seq)}`
    if (record.prev !== this.#prev)
      return `record ${seq} does not follow from the record before it: one of the two is not what was written`
    this.#ledger ??= String(record.ledger)
    if (record.ledger !== this.#ledger) return `record ${seq} is of another ledger`
    this.#prev = leafOf(line)
    this.frontier.append(this.#prev)
    return undefined
  }
}
