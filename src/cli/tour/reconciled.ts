import { setTimeout as pause } from 'node:timers/promises'
import type { EvidenceRecord } from '../../flow/evidence/index.ts'
import type { Core } from '../../gateway/assemble.ts'
import type { OperationRow } from '../../flow/side-effect/ledger.ts'
import type { Io } from '../io.ts'

const WITHIN_MS = 30_000
const LOOK_EVERY_MS = 200

/** Waits until the unknown operation has found its end by itself, and shows the evidence. Undefined where it has not. */
export async function untilReconciled(
  core: Core,
  operation: string,
  io: Io,
  signal: AbortSignal,
): Promise<OperationRow | undefined> {
  io.out(`\n  Meanwhile the server is started again, and its profile says where to look for the effect …`)
  const until = Date.now() + WITHIN_MS
  while (Date.now() < until && !signal.aborted) {
    const row = core.open.ledger.find(operation)
    if (row !== undefined && row.state !== 'unknown' && row.state !== 'held') {
      for (const text of core.open.records({ operation, limit: 20 })) {
        const record = JSON.parse(text) as EvidenceRecord
        if (record.kind === 'op.reconciled')
          io.out(`  ${io.paint('green', '✓')} ${row.state}: ${JSON.stringify(record.facts)}`)
      }
      return row
    }
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
  }
  io.out(`  It is still unknown. countersign operation reconcile ${operation}`)
  return undefined
}
