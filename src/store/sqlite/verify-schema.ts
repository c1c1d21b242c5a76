import { DatabaseSync } from 'node:sqlite'
import { migrations } from '../migrations/sqlite.ts'
import type { Database, Row } from './database.ts'

/**
 * Is the file built as our migrations build it? Its triggers and unique keys refuse what must never happen; one that was
 * taken out would be missed by nobody until then. Answers what is different.
 */
export function strangeSchema(db: Database): string | undefined {
  const found = partsOf((sql) => db.statement(sql).all() as Row[])
  const built = new DatabaseSync(':memory:')
  try {
    built.exec('CREATE TABLE IF NOT EXISTS migration(name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID')
    for (const { schema } of migrations) built.exec(schema)
    const wanted = partsOf((sql) => built.prepare(sql).all() as Row[])
    for (const [name, sql] of wanted)
      if (found.get(name) !== sql) return `the ${name} of the database is missing or another one`
    for (const name of found.keys()) if (!wanted.has(name)) return `the ${name} of the database is none of ours`
    const edges = (rows: Row[]): string => rows.map((row) => `${String(row['a'])} ${String(row['b'])}`).join()
    const listed = 'SELECT a, b FROM transition ORDER BY a, b'
    return edges(db.statement(listed).all() as Row[]) === edges(built.prepare(listed).all() as Row[])
      ? undefined
      : 'the legal transitions in the database are others'
  } finally {
    built.close()
  }
}

function partsOf(all: (sql: string) => Row[]): ReadonlyMap<string, string> {
  // Tables that SQLite keeps for itself come and go.
  const rows = all("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
  return new Map(rows.map((row) => [`${String(row['type'])} ${String(row['name'])}`, String(row['sql'])]))
}
