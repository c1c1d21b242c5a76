import type { CallRecord, OperationDetail } from '../api/contract.ts'
import type { Step } from '../flow/line.ts'
import type { OperationRow } from '../flow/side-effect/ledger.ts'
import { digest } from '../words/digest.ts'
import type { Json } from '../words/json.ts'

/** The one row that has to be known of every call, put together from its operation and from what the gates said of it. */
export function callRecord(
  row: OperationRow,
  happenings: OperationDetail['happenings'],
  result: Uint8Array | undefined,
): CallRecord {
  // The newest judgement: an operation that was taken up again was judged anew.
  const steps = happenings.findLast((it) => it.steps?.some(({ step }) => step === 'resource'))?.steps ?? []
  const facts = (step: Step['step']): Step['facts'] => steps.find((it) => it.step === step)?.facts ?? {}
  const scopes = facts('resource')['scopes']
  const consent = facts('consent')
  const wrong = row.state !== 'succeeded' && row.why !== undefined
  return {
    actor: row.principal,
    tenant: row.tenant,
    tool: row.tool,
    argumentsDigest: row.argumentsDigest,
    resourceScope: Array.isArray(scopes) ? (scopes as readonly Json[]) : [],
    approvalProof: { ...consent, policyVersion: facts('resource')['policyVersion'] ?? null },
    idempotencyKey: {
      ...(row.requestKey === undefined ? {} : { caller: row.requestKey }),
      upstream: row.upstreamKey,
    },
    ...(result === undefined ? {} : { result: { bytes: result.length, digest: digest(result) } }),
    ...(wrong
      ? { error: { ...(row.errorKind === undefined ? {} : { kind: row.errorKind }), why: row.why ?? '' } }
      : {}),
    externalReceipt: row.receiptRef ?? null,
    verdicts: {
      allowed: row.state !== 'proposed' && row.state !== 'denied',
      happened: row.state,
      done: row.acceptance,
    },
  }
}
