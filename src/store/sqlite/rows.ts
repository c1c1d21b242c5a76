import type { Approval, Channel, Question } from '../../flow/consent/consented.ts'
import type { EvidenceRecord } from '../../flow/evidence/index.ts'
import type { OperationRow } from '../../flow/side-effect/ledger.ts'
import type { Acceptance, OperationState } from '../../flow/side-effect/operation.ts'
import type { Database, Row } from './database.ts'
import { openText } from './payloads.ts'

function text(row: Row, column: string): string {
  return String(row[column])
}
function maybeText(row: Row, column: string): string | undefined {
  const value = row[column]
  return value === null || value === undefined ? undefined : String(value)
}
function maybeNumber(row: Row, column: string): number | undefined {
  const value = row[column]
  return value === null || value === undefined ? undefined : Number(value)
}

export function operationOf(row: Row): OperationRow {
  return {
    id: text(row, 'op_id'),
    tenant: text(row, 'tenant'),
    principal: text(row, 'principal'),
    tool: text(row, 'tool'),
    effect: text(row, 'effect'),
    state: text(row, 'state') as OperationState,
    standing: maybeText(row, 'standing') as 'answered' | 'silent' | undefined,
    acceptance: text(row, 'acceptance') as Acceptance,
    attempts: Number(row['attempts']),
    argumentsDigest: text(row, 'arguments_digest'),
    scopesDigest: text(row, 'scopes_digest'),
    pin: text(row, 'pin'),
    requestKey: maybeText(row, 'request_key'),
    approval: maybeText(row, 'approval'),
    repeatOf: maybeText(row, 'repeat_of'),
    why: maybeText(row, 'why'),
    errorKind: maybeText(row, 'error_kind') as OperationRow['errorKind'],
    receiptRef: maybeText(row, 'receipt_ref'),
    reverses: maybeText(row, 'reverses'),
    compensatedBy: maybeText(row, 'compensated_by'),
    upstreamKey: text(row, 'upstream_key'),
    resultBytes: Number(row['result_bytes']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    dispatchedAt: maybeNumber(row, 'dispatched_at'),
    nextDueAt: maybeNumber(row, 'next_due'),
  }
}

/** A read as its one event tells it. Of its arguments only the commitment is kept. */
export function readOf(record: EvidenceRecord): OperationRow {
  const { operation = '', tenant = '', principal = '', tool = '', at, path = [], steps = [], facts = {} } = record
  const said = (step: string, name: string): string => {
    const value = steps.find((it) => it.step === step)?.facts[name]
    return typeof value === 'string' ? value : ''
  }
  return {
    id: operation,
    tenant,
    principal,
    tool,
    effect: 'read',
    state: path.at(-1) ?? 'unknown',
    standing: path.at(-1) === 'unknown' ? 'silent' : undefined,
    acceptance: 'not_required',
    attempts: 1,
    argumentsDigest: '',
    scopesDigest: said('resource', 'scopesDigest'),
    pin: said('tool', 'pin'),
    requestKey: undefined,
    approval: undefined,
    repeatOf: undefined,
    why: typeof facts['why'] === 'string' ? facts['why'] : undefined,
    errorKind: undefined,
    receiptRef: undefined,
    reverses: undefined,
    compensatedBy: undefined,
    upstreamKey: '',
    resultBytes: typeof facts['bytes'] === 'number' ? facts['bytes'] : 0,
    createdAt: at,
    updatedAt: at,
    dispatchedAt: at,
    nextDueAt: undefined,
  }
}

/** Undefined where what was asked was erased. */
export function approvalOf(db: Database, row: Row, now: number): Approval | undefined {
  const id = text(row, 'approval_id')
  const question = openText(db, id, 'question', text(row, 'question'))
  if (question === undefined) return undefined
  const base = {
    id,
    question: JSON.parse(question) as Question,
    askedAt: Number(row['asked_at']),
    expiresAt: Number(row['expires_at']),
  }
  const state = text(row, 'state')
  const decided = {
    by: text(row, 'decided_by'),
    channel: text(row, 'channel') as Channel,
    decidedAt: Number(row['decided_at']),
  }
  switch (state) {
    case 'waiting':
      return base.expiresAt <= now ? { ...base, state: 'expired' } : { ...base, state: 'waiting' }
    case 'granted':
      return base.expiresAt <= now ? { ...base, state: 'expired' } : { ...base, ...decided, state: 'granted' }
    case 'denied':
      return { ...base, ...decided, state: 'denied', why: maybeText(row, 'why') ?? '' }
    case 'used':
      return { ...base, ...decided, state: 'used', operation: text(row, 'used_by') }
    default:
      return { ...base, state: 'expired' }
  }
}
