import { type JsonObject, isJsonObject } from '../../words/json.ts'
import type { Ledger, OperationRow } from '../side-effect/ledger.ts'
import { holds } from '../tool/condition.ts'
import { resolvePointer } from '../tool/pointer.ts'
import type { Adapter, ToolProfile } from '../tool/profile.ts'
import type { OnBehalf, ReadBacks } from './read-back.ts'
import type { WireOutcome } from './receipt.ts'

/** What one look says. `never`: it has been taken back, so that a "not there" is final from now on. */
export type Finding =
  | { readonly kind: 'effect' | 'no' | 'never' }
  | { readonly kind: 'inconclusive'; readonly why: string }

/** Polls the task that an upstream made of a call; filled in where tasks are spoken. */
export interface TaskPolls {
  poll(operation: string, task: string, signal: AbortSignal): Promise<WireOutcome>
}

/** A profile with one read-back means a look for what the call was to make, in a source that shows what was written. */
export function adaptersOf({ reconcile }: Pick<ToolProfile, 'reconcile'>): readonly Adapter[] {
  if (reconcile === undefined) return []
  return isList(reconcile) ? reconcile : [{ by: 'read-back', source: 'read-your-writes', ...reconcile }]
}

function isList(reconcile: NonNullable<ToolProfile['reconcile']>): reconcile is readonly Adapter[] {
  return Array.isArray(reconcile)
}

export async function lookBy(
  adapter: Adapter,
  row: OperationRow,
  onBehalf: OnBehalf,
  { readBacks, tasks }: { readonly readBacks: ReadBacks; readonly tasks?: TaskPolls },
  signal: AbortSignal,
): Promise<Finding> {
  if (adapter.by === 'task') {
    const task = onBehalf.facts?.task
    if (task === undefined || tasks === undefined) return unsure('there is no task to ask for')
    const outcome = await tasks.poll(row.id, task, signal)
    return outcome.kind === 'reply' && outcome.value['isError'] !== true
      ? { kind: 'effect' }
      : unsure(`the task says ${outcome.kind}`)
  }
  if (!canAsk(adapter, onBehalf)) return unsure('there is nothing yet to ask with')
  const outcome = await readBacks.read(onBehalf, adapter, signal, adapter.by === 'cancel' ? 'idempotent' : 'read')
  if (outcome.kind !== 'reply') return unsure(outcome.kind)
  if (outcome.value['isError'] === true) return unsure('the look-up answered with an error')
  if (adapter.by === 'listing') return fromListing(adapter, row, outcome.value, onBehalf)
  const fits = holds(adapter.expect, outcome.value, onBehalf.arguments, onBehalf.facts)
  if (adapter.by === 'cancel') return fits ? { kind: 'never' } : unsure('it was not taken back')
  return { kind: fits ? 'effect' : 'no' }
}

// A look-up by a receipt or a task that there is none of would find somebody else's, or nothing.
function canAsk(adapter: Adapter, { facts = {} }: OnBehalf): boolean {
  const text = JSON.stringify([adapter.arguments, adapter.expect])
  return ['upstreamKey', 'receipt', 'task'].every(
    (fact) => !text.includes(`"$operation":"${fact}"`) || facts[fact as keyof typeof facts] !== undefined,
  )
}

/** Positive only where exactly one entry fits, and was made while the call could make it. */
function fromListing(adapter: Adapter, row: OperationRow, value: JsonObject, onBehalf: OnBehalf): Finding {
  const { values } = resolvePointer(value, adapter.items ?? '')
  const entries = (values.length === 1 && Array.isArray(values[0]) ? values[0] : values) as readonly unknown[]
  const from = (row.dispatchedAt ?? row.createdAt) - adapter.settleMs
  const until = (row.dispatchedAt ?? row.createdAt) + adapter.maxExecutionMs + adapter.settleMs
  const fitting = entries.filter((entry) => {
    if (
      !isJsonObject(entry as never) ||
      !holds(adapter.expect, entry as JsonObject, onBehalf.arguments, onBehalf.facts)
    )
      return false
    const at = adapter.time === undefined ? undefined : resolvePointer(entry as JsonObject, adapter.time).values[0]
    const time = typeof at === 'number' ? at : typeof at === 'string' ? Date.parse(at) : NaN
    return adapter.time === undefined || (time >= from && time <= until)
  })
  if (fitting.length === 1) return { kind: 'effect' }
  return fitting.length === 0 ? { kind: 'no' } : unsure(`${fitting.length} entries fit`)
}

function unsure(why: string): Finding {
  return { kind: 'inconclusive', why }
}

/** All that is known of an operation to look for it with. After a restart there is no more of it than this. */
export function onBehalfOf(row: OperationRow, ledger: Pick<Ledger, 'payload' | 'attempts'>): OnBehalf {
  const bytes = ledger.payload(row.id, 'arguments')
  const parsed: unknown = bytes === undefined ? {} : JSON.parse(Buffer.from(bytes).toString('utf8'))
  const args: JsonObject = isJsonObject(parsed as never) ? (parsed as JsonObject) : {}
  const task = ledger.attempts(row.id).findLast(({ taskRef }) => taskRef !== undefined)?.taskRef
  return {
    operation: row.id,
    principal: row.principal,
    arguments: args,
    facts: {
      ...(row.upstreamKey === '' ? {} : { upstreamKey: row.upstreamKey }),
      ...(row.receiptRef === undefined ? {} : { receipt: row.receiptRef }),
      ...(task === undefined ? {} : { task }),
    },
  }
}
