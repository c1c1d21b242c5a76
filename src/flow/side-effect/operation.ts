import type { AuthorisedAction } from '../action/index.ts'
import type { OperationRow } from './ledger.ts'

/** The states of an operation. `edges` is the whole graph; the database refuses any other edge. */
export const states = [
  'proposed',
  'denied',
  'expired',
  'authorised',
  'dispatched',
  'working',
  'input_required',
  'succeeded',
  'failed',
  'unknown',
  'held',
  'reconciled_effect',
  'reconciled_none',
  'abandoned',
  'compensating',
  'compensated',
  'compensation_failed',
] as const

export type OperationState = (typeof states)[number]

export const edges: ReadonlyArray<readonly [OperationState, OperationState]> = [
  ['proposed', 'denied'],
  ['proposed', 'authorised'],
  ['proposed', 'expired'],
  ['authorised', 'expired'],
  ['authorised', 'denied'],
  ['authorised', 'dispatched'],
  ['dispatched', 'authorised'],
  ['dispatched', 'succeeded'],
  ['dispatched', 'failed'],
  ['dispatched', 'unknown'],
  ['dispatched', 'working'],
  ['dispatched', 'input_required'],
  ['working', 'succeeded'],
  ['working', 'failed'],
  ['working', 'unknown'],
  ['working', 'input_required'],
  ['input_required', 'dispatched'],
  ['input_required', 'abandoned'],
  ['input_required', 'unknown'],
  ['unknown', 'reconciled_effect'],
  ['unknown', 'reconciled_none'],
  ['unknown', 'held'],
  ['held', 'reconciled_effect'],
  ['held', 'reconciled_none'],
  ['reconciled_none', 'authorised'],
  ['reconciled_none', 'abandoned'],
  ['failed', 'reconciled_effect'],
  ['succeeded', 'compensating'],
  ['reconciled_effect', 'compensating'],
  ['compensating', 'compensated'],
  ['compensating', 'compensation_failed'],
  ['compensation_failed', 'compensating'],
]

export type Acceptance = 'not_required' | 'pending' | 'met' | 'not_met' | 'unverifiable'

/** What an adapter needs to send one attempt of one operation. Made by the side-effect gate, after the intent is on disk. */
export interface Permit {
  readonly action: AuthorisedAction
  readonly operation: string
  readonly attempt: number
  /** UUID of version-4 form: equal for all attempts of the operation, meaningless to others. */
  readonly upstreamKey: string
  /** reads: nothing was written yet, one record follows the answer · effect: the intent is durable. */
  readonly lane: 'read' | 'effect'
}

/** What the side-effect gate lets through: the right to send once, or the recorded end of the same call. */
export type Permitted =
  | { readonly kind: 'permit'; readonly permit: Permit }
  | { readonly kind: 'settled'; readonly row: OperationRow; readonly result: Uint8Array | undefined }
