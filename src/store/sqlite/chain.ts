import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, fsyncSync, openSync, readFileSync, writeSync, closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Frontier, type Happening, firstPrev, leafOf, recordLine } from '../../flow/evidence/index.ts'
import type { Database, Row } from './database.ts'

/** The key that signs this home's checkpoints; made once. The public half lies beside it for whoever verifies. */
export function signingKey(home: string): KeyObject {
  const folder = join(home, 'keys')
  const file = join(folder, 'evidence.pem')
  if (existsSync(file)) return createPrivateKey(readFileSync(file, 'utf8'))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  writeSynced(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600)
  writeSynced(join(folder, 'evidence.pub.pem'), publicKey.export({ type: 'spki', format: 'pem' }).toString(), 0o644)
  return privateKey
}

function writeSynced(file: string, text: string, mode: number): void {
  const descriptor = openSync(file, 'wx', mode)
  writeSync(descriptor, text)
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** The end of the chain, in memory, and the one way to add to it. Belongs to the writer; nobody else appends. */
export class Chain {
  readonly ledger: string
  #prev: string
  #frontier: Frontier

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

  append(db: Database, happening: Happening, salt: Uint8Array | null = null): void {
    const seq = this.#frontier.size
    const line = recordLine(this.ledger, seq, this.#prev, happening)
    const leaf = leafOf(line)
    db.statement('INSERT INTO event(seq, op_id, kind, at, record, leaf, salt) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
      seq,
      happening.operation ?? null,
      happening.kind,
      happening.at,
      line,
      leaf,
      salt,
    )
    this.#prev = leaf
    this.#frontier.append(leaf)
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
    }
  }
}
