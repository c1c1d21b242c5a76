import { chmodSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Vault } from '../../flow/evidence/index.ts'
import { LedgerFault } from '../../flow/side-effect/ledger.ts'
import { migrations } from '../migrations/sqlite.ts'

export type Row = Record<string, string | number | bigint | Uint8Array | null>

// Nobody else writes here. A foreign lock is waited for shortly, since the whole process waits, and then is a fault.
const LOCK_WAIT_MS = 250

/** One connection to the ledger's file, with its settings read back: a setting that did not take is a fault, not a hope. */
export class Database {
  readonly path: string
  /** Opens and seals what rows keep of payloads. */
  readonly vault: Vault
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #synchronous = 2

  constructor(path: string, vault: Vault, mode: 'write' | 'read' = 'write') {
    this.path = path
    this.vault = vault
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

  #pragma(name: string): Row[string] | undefined {
    return Object.values(this.#db.prepare(`PRAGMA ${name}`).get() as Row)[0]
  }

  #expect(pragma: string, wanted: string | number): void {
    const found = this.#pragma(pragma)
    if (found !== wanted)
      throw new LedgerFault(
        'LEDGER_UNAVAILABLE',
        `${this.path}: PRAGMA ${pragma} is ${String(found)}, and has to be ${wanted}`,
      )
  }

  #migrate(): void {
    this.#db.exec(
      'CREATE TABLE IF NOT EXISTS migration(name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID',
    )
    const rows = this.#db.prepare('SELECT name FROM migration').all() as Row[]
    const applied = new Set(rows.map((row) => String(row['name'])))
    // Ledgers from before there was that table say by this number that they have the first schema.
    if (applied.size === 0 && this.#pragma('user_version') === 1) this.#noteMigration('1', applied)
    const stranger = [...applied].find((name) => !migrations.some((known) => known.name === name))
    if (stranger !== undefined)
      throw new LedgerFault('LEDGER_UNAVAILABLE', `${this.path} was written by a newer version (schema ${stranger})`)
    for (const { name, schema } of migrations) {
      if (applied.has(name)) continue
      this.#db.exec('BEGIN IMMEDIATE')
      try {
        this.#db.exec(schema)
        this.#noteMigration(name, applied)
        this.#db.exec('COMMIT')
      } catch (fault) {
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
        throw fault
      }
    }
  }

  #noteMigration(name: string, applied: Set<string>): void {
    this.#db.prepare('INSERT INTO migration(name, at) VALUES (?, ?)').run(name, Date.now())
    applied.add(name)
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
