import type { Facts, Refusal } from '../words/verdict.ts'
import type { Spent } from './budget/funded.ts'
import type { Step } from './line.ts'
import type { ErrorKind } from './side-effect/error-kind.ts'
import type { Receipt } from './receipt/receipt.ts'
import { receiptOf } from './receipt/reference.ts'
import { LedgerFault, type Outcome } from './side-effect/ledger.ts'

const RECORD_WITHIN_MS = 5_000

/** What goes on record of a receipt, and of each step. */

export function readOutcome(receipt: Receipt, errorKind: ErrorKind, wallMs: number): Outcome {
  const base = { errorKind, wallMs }
  switch (receipt.kind) {
    case 'not-sent':
      return { ...base, state: 'expired', why: receipt.why }
    case 'unknown':
      // A read has no effect that could be in doubt: an error that was answered is simply a failure.
      return receipt.standing === 'answered'
        ? { ...base, state: 'failed', why: receipt.why }
        : { ...base, state: 'unknown', standing: 'silent', why: receipt.why }
    case 'succeeded':
      return { ...base, state: 'succeeded', result: receipt.bytes }
    case 'failed':
      return receipt.bytes === undefined
        ? { ...base, state: 'failed', why: receipt.why }
        : { ...base, state: 'failed', result: receipt.bytes }
    default:
      return receipt satisfies never
  }
}

export function effectOutcome(
  receipt: Exclude<Receipt, { kind: 'not-sent' }>,
  errorKind: ErrorKind,
  receiptAt: string | undefined,
  wallMs: number,
): Outcome {
  const result = receipt.bytes === undefined ? {} : { result: receipt.bytes }
  const ref = receiptAt === undefined || receipt.value === undefined ? undefined : receiptOf(receipt.value, receiptAt)
  const base = { errorKind, wallMs, ...result, ...(ref === undefined ? {} : { receiptRef: ref }) }
  switch (receipt.kind) {
    case 'unknown':
      return { ...base, state: 'unknown', standing: receipt.standing, why: receipt.why }
    case 'failed':
      return { ...base, state: 'failed', ...(receipt.error === undefined ? {} : { why: receipt.why }) }
    case 'succeeded':
      return { ...base, state: 'succeeded' }
    default:
      return receipt satisfies never
  }
}

// A ledger that cannot be written keeps the outcome and tries again; the caller is not kept waiting for it.
export async function recordedInTime(writing: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), RECORD_WITHIN_MS)))
  try {
    return await Promise.race([writing.then(() => true as const), late])
  } catch (fault) {
    if (fault instanceof LedgerFault) return false
    throw fault
  } finally {
    clearTimeout(timer)
  }
}

export function spentOn(receipt: Receipt, wallMs: number): Spent {
  const result = 'bytes' in receipt ? receipt.bytes : undefined
  return { wallMs, resultBytes: result?.length ?? 0, ...(result === undefined ? {} : { result }) }
}

export function receiptStep(receipt: Receipt, began: number): Step {
  return {
    step: 'receipt',
    verdict: 'pass',
    facts:
      receipt.kind === 'not-sent'
        ? { kind: receipt.kind, why: receipt.why }
        : receipt.kind === 'unknown'
          ? { kind: receipt.kind, standing: receipt.standing, why: receipt.why }
          : { kind: receipt.kind, bytes: receipt.bytes?.length ?? 0 },
    micros: Math.round((performance.now() - began) * 1000),
  }
}

export function stepOf(step: Step['step'], verdict: { kind: 'pass'; facts: Facts } | Refusal, began: number): Step {
  const micros = Math.round((performance.now() - began) * 1000)
  return verdict.kind === 'pass'
    ? { step, verdict: 'pass', facts: verdict.facts, micros }
    : { step, verdict: 'refuse', code: verdict.code, facts: verdict.facts, micros }
}
