import {
  type Course,
  Frontier,
  type Happening,
  firstPrev,
  leafOf,
  type Read,
  recordLine,
  referring,
  statementOf,
  Statements,
} from '../../flow/evidence/index.ts'
import type { Database, Row } from './database.ts'
import { digestOfOperation } from './row-digest.ts'

/** The end of the chain, in memory, and the one way to add to it. Belongs to the writer; nobody else appends. */
export class Chain {
  readonly ledger: string
  #prev: string
  #frontier: Frontier
  readonly #statements = new Statements()

  private constructor(ledger: string, prev: string, frontier: Frontier) {
    this.ledger = ledger
    this.#prev = prev
    this.#frontier = frontier
  }

  /** Rebuilds the frontier from the stored leaves; the records themselves are verified elsewhere. */
  static load(db: Database, ledger: string): Chain {
    const frontier = new Frontier()
    let prev = firstPrev
    for (const row of db.statement('SELECT leaf FROM event ORDER BY seq').iterate() as Iterable<Row>) {
      prev = String(row['leaf'])
      frontier.append(prev)
    }
    return new Chain(ledger, prev, frontier)
  }

  get size(): number {
    return this.#frontier.size
  }
  get leaf(): string {
    return this.#prev
  }
  root(): string {
    return this.#frontier.root()
  }

  /** What the event describes has to be in the database by then. */
  append(db: Database, happening: Happening): void {
    const seq = this.#frontier.size
    const { operation, kind } = happening
    const row = operation === undefined || kind === 'op.read' ? undefined : digestOfOperation(db, operation)
    const line = recordLine(this.ledger, seq, this.#prev, row === undefined ? happening : { ...happening, row })
    const leaf = leafOf(line)
    db.statement('INSERT INTO event(seq, op_id, kind, at, record, leaf) VALUES (?, ?, ?, ?, ?, ?)').run(
      seq,
      happening.operation ?? null,
      happening.kind,
      happening.at,
      line,
      leaf,
    )
    this.#prev = leaf
    this.#frontier.append(leaf)
  }

  /** A read, referring to the record that says what it has in common with others like it; made where there is none. */
  appendRead(db: Database, read: Read, course: Course): void {
    let stated = this.#statements.seqOf(read, course)
    if (stated === undefined) {
      stated = this.#frontier.size
      this.append(db, statementOf(read, course))
      this.#statements.note(read, course, stated)
    }
    this.append(db, referring(read, course, stated))
  }

  /** Does this chain hold the whole of the other one? */
  extends(earlier: Chain, db: Database): boolean {
    if (this.size < earlier.size) return false
    if (earlier.size === 0) return true
    const row = db.statement('SELECT leaf FROM event WHERE seq = ?').get(earlier.size - 1) as Row | undefined
    return row?.['leaf'] === earlier.leaf
  }

  /** For a transaction or a savepoint that may be undone. */
  mark(): () => void {
    const prev = this.#prev
    const frontier = this.#frontier.copy()
    return () => {
      this.#prev = prev
      this.#frontier = frontier.copy()
      this.#statements.forgetFrom(frontier.size)
    }
  }
}
