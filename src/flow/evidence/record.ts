import { hash } from 'node:crypto'
import type { Json } from '../../words/json.ts'
import type { Step } from '../line.ts'
import type { Acceptance, OperationState } from '../side-effect/operation.ts'

/** What happened, before it has a place in the chain. */
export interface Happening {
  readonly kind: EventKind
  /** Milliseconds since 1970. */
  readonly at: number
  readonly operation?: string
  readonly approval?: string
  readonly tenant?: string
  readonly principal?: string
  /** `server/tool` */
  readonly tool?: string
  readonly trace?: string
  /** The states that the operation went through with this event, first to last. */
  readonly path?: readonly OperationState[]
  readonly acceptance?: Acceptance
  readonly attempt?: number
  /** Digest of the operation's row as it stands after this. */
  readonly row?: string
  /** HMAC-SHA-256 under a random salt of the arguments, of the raw result: provable to whoever is shown the value, silent to all others. */
  readonly commitments?: { readonly arguments?: string; readonly result?: string }
  /** seq of the record that says, once for many, what went before the call. */
  readonly as?: number
  /** Beside `as`: the facts that are this call's own, by step, and the time each step took, in microseconds. */
  readonly said?: { readonly [step: string]: Json }
  readonly micros?: readonly number[]
  readonly steps?: readonly Step[]
  readonly facts?: { readonly [name: string]: Json }
}

export type EventKind =
  | 'ledger.opened'
  | 'ledger.closed'
  | 'ledger.key'
  | 'key.destroyed'
  | 'proposal.refused'
  | 'approval.asked'
  | 'approval.granted'
  | 'approval.denied'
  | 'approval.expired'
  | 'approval.revoked'
  | 'op.read'
  | 'read.stated'
  | 'op.dispatched'
  | 'op.not_sent'
  | 'op.asked'
  | 'op.leg'
  | 'op.pending'
  | 'op.expired'
  | 'op.outcome'
  | 'op.unknown'
  | 'op.result'
  | 'op.repeated'
  | 'op.acceptance'
  | 'op.reconciled'
  | 'op.held'
  | 'op.abandoned'
  | 'op.decided'
  | 'op.compensating'
  | 'op.compensated'
  | 'op.compensation_failed'
  | 'catalogue.changed'
  | 'upstream.connected'
  | 'configuration.changed'

/** A happening with its place in the chain, as its line in an export says it. */
export interface EvidenceRecord extends Happening {
  readonly v: 1
  readonly ledger: string
  readonly seq: number
  /** Leaf of the record before this one; 64 zeros for the first. */
  readonly prev: string
}

export const firstPrev = '0'.repeat(64)

/** The line that is hashed, stored and exported: one JSON object, written once and never again. */
export function recordLine(ledger: string, seq: number, prev: string, happening: Happening): string {
  return JSON.stringify({ v: 1, ledger, seq, prev, ...happening })
}

/** Leaf hash of RFC 6962 §2.1: SHA-256 over a zero byte and the record. */
export function leafOf(line: string): string {
  return hash('sha256', `\0${line}`, 'hex')
}
