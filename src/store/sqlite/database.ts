import { chmodSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { LedgerFault } from '../../flow/side-effect/ledger.ts'
import { schema, version } from '../migrations/sqlite-1.ts'

export type Row = Record<string, string | number | bigint | Uint8Array | null>

// Nobody else writes here. A foreign lock is waited for shortly, since the whole process waits, and then is a fault.
const LOCK_WAIT_MS = 250

/** One connection to the ledger's file, with its settings read back: a setting that did not take is a fault, not a hope. */
export class Database {
  readonly path: string
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #synchronous = 2

  constructor(path: string, mode: 'write' | 'read' = 'write') {
    this.path = path
    this.#db = new DatabaseSync(path, { readOnly: mode === 'read', timeout: LOCK_WAIT_MS, defensive: mode === 'write' })
    if (mode === 'read') return
    chmodSync(path, 0o600)
    this.#db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF',
    )
    this.#expect('journal_mode', 'wal')
    this.#expect('synchronous', 2)
    this.#expect('foreign_keys', 1)
    this.#migrate()
  }

  #expect(pragma: string, wanted: string | number): void {
    const row = this.#db.prepare(`PRAGMA ${pragma}`).get() as Row
    const found = Object.values(row)[0]
    if (found !== wanted)
      throw new LedgerFault(
        'LEDGER_UNAVAILABLE',
        `${this.path}: PRAGMA ${pragma} is ${String(found)}, and has to be ${wanted}`,
      )
  }

  #migrate(): void {
    const found = Number(Object.values(this.#db.prepare('PRAGMA user_version').get() as Row)[0])
    if (found === version) return
    if (found > version)
      throw new LedgerFault(
        'LEDGER_UNAVAILABLE',
        `${this.path} was written by a newer version (schema ${found}, this is ${version})`,
      )
    this.#db.exec(`BEGIN IMMEDIATE; ${schema} PRAGMA user_version = ${version}; COMMIT`)
  }

  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#db.prepare(sql)))
    return statement
  }

  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /** A statement without parameters and without rows, parsed once. */
  run(sql: 'BEGIN IMMEDIATE' | 'COMMIT' | 'ROLLBACK' | 'SAVEPOINT job' | 'RELEASE job' | 'ROLLBACK TO job'): void {
    this.statement(sql).run()
  }

  /** FULL syncs the log at the commit; NORMAL leaves it to a later one. Read back, since a refused PRAGMA says nothing. */
  synchronise(full: boolean): void {
    const wanted = full ? 2 : 1
    if (this.#synchronous === wanted) return
    this.#db.exec(full ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL')
    this.#expect('synchronous', wanted)
    this.#synchronous = wanted
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }
}
