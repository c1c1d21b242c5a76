import type { KeyObject } from 'node:crypto'
import { signCheckpoint } from '../../flow/evidence/index.ts'
import { LedgerFault } from '../../flow/side-effect/ledger.ts'
import { Chain } from './chain.ts'
import type { Database } from './database.ts'
import type { OutsideHead } from './outside.ts'

/** What one caller wants done inside a transaction. */
export interface Job<Value> {
  /** May be run twice, when another job of its batch fails: the first run is undone then. */
  readonly run: (db: Database, chain: Chain) => Value
  /** synced: on disk before it resolves · grouped: committed before it resolves, synced within 50 ms. */
  readonly durability: 'synced' | 'grouped'
  /** A proposal is turned away when the ledger is busy or broken. An outcome never is: it happened. */
  readonly weight: 'proposal' | 'outcome'
}

interface Queued {
  readonly job: Job<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (fault: unknown) => void
}

const QUEUE_LIMIT = 1024
const BATCH_LIMIT = 256
const FULL_BATCH = 16
const GATHERING_TURNS = 3
const SYNC_WITHIN_MS = 50
const RETRY_MS = 500

/**
 * The one writer. Jobs queue while the event loop turns and go into one transaction: a batch that holds a synced job is
 * committed with a sync, any other without. A job that throws is undone alone, behind a savepoint.
 */
export class Writer {
  readonly #open: () => Database
  #chain: Chain
  readonly #outside: OutsideHead
  #key: KeyObject
  readonly #checkpointEvery: number
  #db: Database
  #queue: Queued[] = []
  #scheduled = false
  #broken: string | undefined
  #unsynced = false
  #syncTimer: NodeJS.Timeout | undefined
  #checkpointed: number
  #closed = false

  constructor(parts: {
    open: () => Database
    db: Database
    chain: Chain
    outside: OutsideHead
    key: KeyObject
    checkpointEvery: number
    checkpointed: number
  }) {
    this.#open = parts.open
    this.#db = parts.db
    this.#chain = parts.chain
    this.#outside = parts.outside
    this.#key = parts.key
    this.#checkpointEvery = parts.checkpointEvery
    this.#checkpointed = parts.checkpointed
  }

  get broken(): string | undefined {
    return this.#broken
  }
  get db(): Database {
    return this.#db
  }
  get size(): number {
    return this.#chain.size
  }
  get checkpointed(): number {
    return this.#checkpointed
  }

  /** Checkpoints from now on are signed by this key. */
  useKey(key: KeyObject): void {
    this.#key = key
  }

  write<Value>(job: Job<Value>): Promise<Value> {
    if (this.#closed) return Promise.reject(new LedgerFault('LEDGER_UNAVAILABLE', 'the ledger is closed'))
    if (job.weight === 'proposal') {
      if (this.#broken !== undefined) return Promise.reject(new LedgerFault('LEDGER_UNAVAILABLE', this.#broken))
      if (this.#queue.length >= QUEUE_LIMIT)
        return Promise.reject(new LedgerFault('LEDGER_BUSY', `${QUEUE_LIMIT} writes are waiting`))
    }
    return new Promise<Value>((resolve, reject) => {
      this.#queue.push({ job, resolve: resolve as (value: unknown) => void, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#broken !== undefined) return
    this.#scheduled = true
    setImmediate(() => this.#gather(GATHERING_TURNS))
  }

  // Callers whose answers come in while the event loop turns a few times more go into the same commit: a turn costs
  // microseconds, and a commit of its own costs each of them a multiple of its record.
  #gather(turns: number): void {
    if (turns === 0 || this.#queue.length >= FULL_BATCH) this.#flushNow()
    else setImmediate(() => this.#gather(turns - 1))
  }

  #flushNow(): void {
    this.#scheduled = false
    this.#flush()
    if (this.#queue.length > 0) this.#schedule()
  }

  #flush(): void {
    const batch = this.#queue.splice(0, BATCH_LIMIT)
    if (batch.length === 0) return
    const undo = this.#chain.mark()
    const synced = batch.some(({ job }) => job.durability === 'synced')
    let done: (() => void)[]
    try {
      this.#db.synchronise(synced)
      done = this.#runTogether(batch) ?? this.#runApart(batch, undo)
    } catch (fault) {
      undo()
      this.#breakDown(batch, fault)
      return
    }
    for (const settle of done) settle()
    try {
      if (synced) this.#nowSynced()
      else this.#syncSoon()
    } catch (fault) {
      // What was committed stands. Nothing more is, until its head can be kept outside again.
      this.#breakDown([], fault)
      return
    }
    // One that cannot be signed now is signed with the next.
    if (this.#chain.size - this.#checkpointed >= this.#checkpointEvery) void this.checkpoint().catch(() => {})
  }

  /** The usual case: no job fails, and none has to be told from the others. Undefined where one did. */
  #runTogether(batch: readonly Queued[]): (() => void)[] | undefined {
    const done: (() => void)[] = []
    this.#db.run('BEGIN IMMEDIATE')
    for (const { job, resolve } of batch) {
      try {
        const value = job.run(this.#db, this.#chain)
        done.push(() => resolve(value))
      } catch (fault) {
        // An error that ended the whole transaction (disk full, I/O) is not this job's alone.
        if (!this.#db.inTransaction) throw fault
        return undefined
      }
    }
    this.#db.run('COMMIT')
    return done
  }

  /** The same jobs again from the beginning, each behind a savepoint, so that one that fails is undone alone. */
  #runApart(batch: readonly Queued[], undo: () => void): (() => void)[] {
    this.#db.run('ROLLBACK')
    undo()
    this.#db.run('BEGIN IMMEDIATE')
    const done = batch.map((queued) => this.#runAlone(queued))
    this.#db.run('COMMIT')
    return done
  }

  #runAlone({ job, resolve, reject }: Queued): () => void {
    const undo = this.#chain.mark()
    this.#db.run('SAVEPOINT job')
    try {
      const value = job.run(this.#db, this.#chain)
      this.#db.run('RELEASE job')
      return () => resolve(value)
    } catch (fault) {
      if (!this.#db.inTransaction) throw fault
      this.#db.run('ROLLBACK TO job')
      this.#db.run('RELEASE job')
      undo()
      return () => reject(fault)
    }
  }

  #nowSynced(): void {
    this.#unsynced = false
    clearTimeout(this.#syncTimer)
    this.#syncTimer = undefined
    this.#outside.move({ size: this.#chain.size, leaf: this.#chain.leaf })
  }

  #syncSoon(): void {
    this.#unsynced = true
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined
      if (this.#unsynced && this.#broken === undefined) void this.sync().catch(() => {})
    }, SYNC_WITHIN_MS)
  }

  /** Everything that was committed so far is on disk when this resolves. */
  sync(): Promise<void> {
    return this.write({
      durability: 'synced',
      weight: 'outcome',
      // A commit that changes nothing writes nothing, and so syncs nothing.
      run: (db, chain) =>
        void db
          .statement("INSERT INTO meta(k, v) VALUES ('synced', ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v")
          .run(String(chain.size)),
    })
  }

  /** Signs the chain as it stands, once it is on disk, and puts the note outside too. */
  checkpoint(): Promise<string> {
    this.#checkpointed = this.#chain.size
    return this.write({
      durability: 'synced',
      weight: 'outcome',
      run: (db, chain) => {
        const note = signCheckpoint({ ledger: chain.ledger, size: chain.size, root: chain.root() }, this.#key)
        db.statement('INSERT OR IGNORE INTO checkpoint(size, root, note) VALUES (?, ?, ?)').run(
          chain.size,
          chain.root(),
          note,
        )
        return { note, head: { size: chain.size, leaf: chain.leaf } }
      },
    }).then(({ note, head }) => {
      this.#outside.checkpoint(note, head)
      return note
    })
  }

  #breakDown(batch: readonly Queued[], fault: unknown): void {
    this.#broken = fault instanceof Error ? fault.message : String(fault)
    if (this.#db.inTransaction) {
      try {
        this.#db.exec('ROLLBACK')
      } catch {
        // The reopening below starts from what is really on disk.
      }
    }
    const kept = batch.filter(({ job }) => job.weight === 'outcome')
    for (const { job, reject } of batch)
      if (job.weight === 'proposal') reject(new LedgerFault('LEDGER_UNAVAILABLE', this.#broken, fault))
    this.#queue = [...kept, ...this.#queue]
    setTimeout(() => this.#mend(), RETRY_MS).unref()
  }

  // A commit whose error was reported may still have happened: what is on disk decides, not what was answered.
  #mend(): void {
    if (this.#closed) return
    try {
      try {
        this.#db.close()
      } catch {
        // already closed by the fault
      }
      this.#db = this.#open()
      const found = Chain.load(this.#db, this.#chain.ledger)
      if (!found.extends(this.#chain, this.#db))
        throw new LedgerFault('LEDGER_ROLLED_BACK', 'after a failed write the ledger lacks what was in it before')
      this.#chain = found
      this.#db.exec('BEGIN IMMEDIATE; ROLLBACK')
      this.#broken = undefined
      this.#flush()
      if (this.#queue.length > 0) this.#schedule()
    } catch (fault) {
      this.#broken = fault instanceof Error ? fault.message : String(fault)
      setTimeout(() => this.#mend(), RETRY_MS).unref()
    }
  }

  /** Writes what waits, signs the end where that is wanted, and closes. Afterwards every write is a fault. */
  async close(signed = true): Promise<void> {
    if (this.#closed) return
    clearTimeout(this.#syncTimer)
    // A head that cannot be signed now is still in the ledger; the next start signs over it.
    if (signed && this.#broken === undefined) await this.checkpoint().catch(() => '')
    this.#closed = true
    for (const { reject } of this.#queue.splice(0))
      reject(new LedgerFault('LEDGER_UNAVAILABLE', 'the ledger is closed'))
    this.#db.close()
    this.#outside.close()
  }
}
