import type { DataKey, Opened, Subject } from '../../flow/evidence/index.ts'
import { commitment, type Digest } from '../../words/digest.ts'
import type { Database, Row } from './database.ts'

export type Role = 'arguments' | 'result'

/**
 * Seals what was sent or answered beside its operation, and answers the commitment that goes on record. Of several answers
 * the newest is kept.
 */
export function keepPayload(
  db: Database,
  subject: Subject,
  operation: string,
  role: Role,
  body: string | Uint8Array,
): Digest {
  const key = db.vault.keyFor(subject)
  const about = aboutOf(operation, role)
  db.statement('INSERT OR REPLACE INTO payload(op_id, role, key_id, body) VALUES (?, ?, ?, ?)').run(
    operation,
    role,
    key.id,
    key.seal(about, body),
  )
  return commitment(key.salts(operation)[role], body)
}

/** Commits to what is not kept. */
export function commitTo(
  db: Database,
  subject: Subject,
  operation: string,
  role: string,
  body: string | Uint8Array,
): Digest {
  return commitment(saltOf(db.vault.keyFor(subject), operation, role), body)
}

/** Opens a payload with the salt of its commitment; undefined where none is kept. */
export function openPayload(db: Database, operation: string, role: string): Opened | undefined {
  const row = db.statement('SELECT key_id, body FROM payload WHERE op_id = ? AND role = ?').get(operation, role) as
    | Row
    | undefined
  return row === undefined ? undefined : openRow(db, operation, role, row)
}

export function openRow(db: Database, operation: string, role: string, row: Row): Opened {
  const key = db.vault.key(String(row['key_id']))
  if (key === undefined) return 'erased'
  const about = aboutOf(operation, role)
  return { salt: saltOf(key, operation, role), body: key.open(about, row['body'] as Uint8Array) }
}

export function readPayload(db: Database, operation: string, role: Role): Uint8Array | undefined {
  const opened = openPayload(db, operation, role)
  return opened === undefined || opened === 'erased' ? undefined : opened.body
}

/** A text of a row, sealed into a text: the key's name and the bytes in base 64. */
export function sealText(db: Database, subject: Subject, row: string, role: string, text: string): string {
  const key = db.vault.keyFor(subject)
  return `${key.id} ${Buffer.from(key.seal(aboutOf(row, role), text)).toString('base64')}`
}

/** Undefined where its key was destroyed. */
export function openText(db: Database, row: string, role: string, sealed: string): string | undefined {
  const [id = '', body = ''] = sealed.split(' ')
  const key = db.vault.key(id)
  return key?.open(aboutOf(row, role), Buffer.from(body, 'base64')).toString('utf8')
}

/** Commits to a text that `sealText` sealed; undefined where its key was destroyed. */
export function commitToText(db: Database, row: string, role: string, sealed: string): Digest | undefined {
  const key = db.vault.key(sealed.split(' ')[0] ?? '')
  const text = openText(db, row, role, sealed)
  return key === undefined || text === undefined ? undefined : commitment(key.salt(aboutOf(row, role)), text)
}

function saltOf(key: DataKey, operation: string, role: string): Uint8Array {
  return role === 'arguments' || role === 'result' ? key.salts(operation)[role] : key.salt(aboutOf(operation, role))
}

function aboutOf(row: string, role: string): string {
  return `${row}/${role}`
}
