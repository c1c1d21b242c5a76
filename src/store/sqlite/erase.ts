import type { EvidenceRecord, Subject, Vault } from '../../flow/evidence/index.ts'
import type { Database, Row } from './database.ts'
import type { Writer } from './writer.ts'

/**
 * Destroys the data key of a principal. The record of it comes first and is synced: a key that is gone without one counts
 * as tampering, one that outlived its record is destroyed at the next start. Undefined where nothing is kept.
 */
export async function eraseSubject(
  writer: Writer,
  vault: Vault,
  { tenant, principal }: Subject,
  { by, why }: { readonly by: string; readonly why: string },
): Promise<{ readonly keys: readonly string[] } | undefined> {
  const keys = vault.retire({ tenant, principal })
  if (keys.length === 0) return undefined
  await writer.write({
    durability: 'synced',
    weight: 'outcome',
    // Not whose key it was: the name is what is to be forgotten.
    run: (db, chain) => {
      for (const key of keys) chain.append(db, { kind: 'key.destroyed', at: Date.now(), facts: { key, by, why } })
    },
  })
  for (const key of keys) vault.destroy(key)
  return { keys }
}

/** What a record says was destroyed, and is still there since the process ended in between. */
export function finishErasures(db: Database, vault: Vault): void {
  const rows = db.statement("SELECT record FROM event WHERE kind = 'key.destroyed'").all() as Row[]
  for (const row of rows) vault.destroy((JSON.parse(String(row['record'])) as EvidenceRecord).facts?.['key'] as string)
}
