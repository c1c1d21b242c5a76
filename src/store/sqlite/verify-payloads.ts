import type { EvidenceRecord, Opened } from '../../flow/evidence/index.ts'
import { commitment, digest } from '../../words/digest.ts'
import type { Database, Row } from './database.ts'
import { openRow, type Role } from './payloads.ts'

/** What was committed to and has to be there, opened or erased. */
export class ExpectedPayloads {
  /** Data keys that a record says were destroyed. */
  readonly destroyed = new Set<string>()
  erased = 0
  readonly #commitments = new Map<string, string>()

  note({ kind, operation, commitments, facts }: EvidenceRecord): void {
    if (kind === 'key.destroyed') this.destroyed.add(facts?.['key'] as string)
    // Of a read, and of what a server asked, nothing but the event is kept.
    if (operation === undefined || commitments === undefined || kind === 'op.read' || kind === 'op.asked') return
    for (const [role, committed] of Object.entries(commitments))
      if (committed !== undefined) this.#commitments.set(`${operation}/${role}`, committed)
  }

  /** The first payload that is not what the events commit to. */
  wrong(db: Database): string | undefined {
    const rows = db
      .statement(
        'SELECT p.op_id, p.role, p.key_id, p.body, o.arguments_digest FROM payload p JOIN operation o ON o.op_id = p.op_id',
      )
      .iterate() as Iterable<Row>
    let kept = 0
    for (const row of rows) {
      kept++
      const operation = String(row['op_id'])
      const role = row['role'] as Role
      const what = `the ${role} of operation ${operation}`
      const committed = this.#commitments.get(`${operation}/${role}`)
      if (committed === undefined) return `nothing commits to ${what}`
      const opened = opens(db, operation, role, row)
      if (opened === undefined) return `${what} are not what was committed to`
      if (opened === 'erased') {
        if (!this.destroyed.has(String(row['key_id'])))
          return `the key of ${what} is gone, and no record says that it was destroyed`
        this.erased++
        continue
      }
      if (committed !== commitment(opened.salt, opened.body)) return `${what} are not what was committed to`
      if (role === 'arguments' && digest(opened.body) !== row['arguments_digest'])
        return `${what} have another digest than its row says`
    }
    return kept === this.#commitments.size
      ? undefined
      : `${this.#commitments.size} payloads were committed to, and ${kept} are there`
  }
}

function opens(db: Database, operation: string, role: Role, row: Row): Opened | undefined {
  try {
    return openRow(db, operation, role, row)
  } catch {
    return undefined
  }
}
