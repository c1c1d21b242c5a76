import type { Flow } from '../flow/answer.ts'
import { onBehalfOf } from '../flow/receipt/look.ts'
import type { Ledger, OperationRow } from '../flow/side-effect/ledger.ts'
import type { ToolProfile } from '../flow/tool/profile.ts'
import { refuse, type Refusal } from '../words/verdict.ts'
import { filled } from './read-backs.ts'

/**
 * Undoes an operation by the call that its profile names: an operation of its own, through every gate, with a key and an
 * approval of its own. Answers the row of the one that is undone as it is then, or why nothing was done.
 */
export async function compensate(
  row: OperationRow,
  { flow, ledger, profileOf }: { flow: Flow; ledger: Ledger; profileOf: (tool: string) => ToolProfile },
  signal: AbortSignal,
): Promise<OperationRow | Refusal> {
  const { compensate: undo } = profileOf(row.tool)
  if (undo === undefined)
    return refuse('NOT_UNDOABLE', { operation: row.id, why: 'its profile names nothing that undoes it' })
  if (!['succeeded', 'reconciled_effect', 'compensation_failed'].includes(row.state))
    return refuse('NOT_UNDOABLE', { operation: row.id, why: `it is ${row.state}` })
  const slash = undo.tool.indexOf('/')
  const answer = await flow.call(
    {
      target: { kind: 'tool', server: undo.tool.slice(0, slash), name: undo.tool.slice(slash + 1) },
      arguments: { value: filled(undo.arguments, onBehalfOf(row, ledger)) },
      // One key for each time that a person wants it undone: the next one only after the last is known to have failed.
      origin: { door: 'library', requestKey: `undo:${row.id}:${row.compensatedBy ?? 'first'}`, reverses: row.id },
      credential: { kind: 'library', principal: row.principal },
    },
    { consent: 'wait' },
    signal,
  )
  const child = ledger.find(row.id)?.compensatedBy
  if (child !== undefined) await ledger.finishCompensation(child)
  if (answer.kind === 'refused' && (child === undefined || child === row.compensatedBy))
    return refuse(answer.code, answer.facts)
  return ledger.find(row.id)!
}
