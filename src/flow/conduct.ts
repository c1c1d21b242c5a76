import type { Json } from '../words/json.ts'
import type { Facts, Refusal } from '../words/verdict.ts'
import { refuse } from '../words/verdict.ts'
import type { AuthorisedAction } from './action/index.ts'
import type { Answer, Caller } from './answer.ts'
import { askingOf } from './asking.ts'
import type { Step } from './line.ts'
import { turnAway } from './turn-away.ts'
import { verifyOutcome } from './outcome/index.ts'
import type { FlowNeeds } from './needs.ts'
import type { Point } from './points.ts'
import { classify } from './receipt/classify.ts'
import { errorKindOf } from './receipt/error-kind.ts'
import { mayTryAgain } from './side-effect/error-kind.ts'
import type { Receipt, WireOutcome } from './receipt/receipt.ts'
import { effectOutcome, readOutcome, receiptStep, recordedInTime, spentOn, stepOf } from './recorded.ts'
import { type Accepted, maskText, result } from './result/index.ts'
import { sideEffect } from './side-effect/index.ts'
import type { OperationRow } from './side-effect/ledger.ts'
import { LedgerFault } from './side-effect/ledger.ts'
import type { Acceptance, Permit } from './side-effect/operation.ts'

const ATTEMPT_PAUSE_MS = [50, 250]
const VERIFY_WITHIN_MS = 60_000

/** From an authorised action to its recorded end. Everything before it could still say no; from here on it may have happened. */
export async function conduct(
  action: AuthorisedAction,
  caller: Caller,
  needs: FlowNeeds,
  steps: Step[],
  signal: AbortSignal,
): Promise<Answer> {
  const { catalogue, policies, ledger } = needs
  const stillValid = (): boolean => {
    const found = catalogue.find(action.proposal.target)
    return found.state === 'approved' && found.tool.pin === action.tool.pin && policies.version === action.policyVersion
  }
  needs.at?.('judged')
  const began = performance.now()
  const asked = sideEffect.judge(
    action,
    { ledger, steps: [...steps], stillValid, admit: (server) => needs.breaker?.admit(server) },
    signal,
  )
  const permitted = asked instanceof Promise ? await asked : asked
  const recorded = steps.length
  steps.push(stepOf('side-effect', permitted, began))
  if (permitted.kind === 'refuse') {
    action.hold.release()
    return turnAway(permitted, steps, action.proposal, needs)
  }
  if (permitted.next.kind === 'settled') {
    action.hold.release()
    return answerAgain(permitted.next.row, permitted.next.result, action, needs, steps, signal)
  }
  const { permit } = permitted.next
  if (permit.lane === 'effect') needs.at?.('intent-recorded')
  return permit.lane === 'read'
    ? conductRead(permit, caller, needs, steps, signal)
    : conductEffect(permit, caller, needs, steps, recorded, signal)
}

/** A read: one record when it is over, so that it costs one commit. */
async function conductRead(
  permit: Permit,
  caller: Caller,
  needs: FlowNeeds,
  steps: Step[],
  signal: AbortSignal,
): Promise<Answer> {
  const { action, operation } = permit
  const sent = performance.now()
  const outcome = await send(permit, caller, needs, signal, sent)
  const wallMs = performance.now() - sent
  const receipt = classify(outcome, action)
  steps.push(receiptStep(receipt, sent))
  action.hold.settle(spentOn(receipt, wallMs))
  const accepted =
    'bytes' in receipt && receipt.bytes !== undefined ? accept(permit, receipt, needs, steps, signal) : undefined
  const verdict = accepted instanceof Promise ? await accepted : accepted
  try {
    await needs.ledger.read(action, operation, readOutcome(receipt, errorKindOf(outcome, receipt), wallMs), steps)
  } catch (fault) {
    // A read without its record is no answer; it had no effect, and may be made again.
    if (fault instanceof LedgerFault) return refused(refuse(fault.code, { why: fault.message }), steps, undefined)
    throw fault
  }
  if (receipt.kind === 'not-sent') return refused(refuse('NOT_SENT', { why: receipt.why }), steps, operation)
  return answerOf(operation, receipt, verdict, 'not_required', steps, 'failed')
}

/** Anything that may have an effect: intent, raw outcome, and what was made of it, each on record before the next. */
async function conductEffect(
  first: Permit,
  caller: Caller,
  needs: FlowNeeds,
  steps: Step[],
  recorded: number,
  signal: AbortSignal,
): Promise<Answer> {
  const began = performance.now()
  const { outcome, permit } = await sendUntilSent(first, caller, needs, signal, began)
  needs.at?.('answered')
  if (outcome.kind !== 'no-answer' || outcome.listening !== true)
    return concludeEffect(permit, outcome, { began, recorded, signal }, needs, steps)
  // The operation stays dispatched, and its hold stands: it is under way, and only the caller does not wait for it.
  await recordedInTime(needs.ledger.pending(permit.operation, outcome.detail))
  return { kind: 'unknown', operation: permit.operation, why: outcome.detail, steps }
}

interface Ending {
  /** By the monotonic clock. */
  readonly began: number
  /** How many of the steps went on record with the intent. */
  readonly recorded: number
  readonly signal: AbortSignal
}

async function concludeEffect(
  permit: Permit,
  outcome: WireOutcome,
  { began, recorded, signal }: Ending,
  needs: FlowNeeds,
  steps: Step[],
): Promise<Answer> {
  const { action, operation } = permit
  const { ledger } = needs
  const wallMs = performance.now() - began
  const receipt = classify(outcome, action, permit.upstreamKey)
  steps.push(receiptStep(receipt, began))
  if (receipt.kind === 'not-sent') {
    action.hold.release()
    await recordedInTime(ledger.giveUp(operation, receipt.why))
    return refused(refuse('NOT_SENT', { why: receipt.why, attempts: permit.attempt }), steps, operation)
  }
  action.hold.settle(spentOn(receipt, wallMs))
  const settled = effectOutcome(receipt, errorKindOf(outcome, receipt), action.tool.profile.receipt?.at, wallMs)
  if (!(await recordedInTime(ledger.settle(operation, settled, steps.slice(recorded)))))
    return { kind: 'unknown', operation, why: 'the outcome is known and could not be recorded yet', steps }
  needs.at?.('outcome-recorded')
  if (receipt.kind === 'unknown' && receipt.standing === 'silent') {
    needs.onUnknown?.(operation)
    return { kind: 'unknown', operation, why: receipt.why, steps }
  }
  const concludeFrom = steps.length
  const judged =
    'bytes' in receipt && receipt.bytes !== undefined ? accept(permit, receipt, needs, steps, signal) : undefined
  const verdict = judged instanceof Promise ? await judged : judged
  needs.at?.('result-accepted')
  const verifying = performance.now()
  // Not the caller's signal: what the world shows is wanted also when nobody waits for it any more.
  const outcomeVerdict = await verifyOutcome(
    action,
    operation,
    receipt.kind,
    needs,
    AbortSignal.timeout(VERIFY_WITHIN_MS),
  )
  steps.push({
    step: 'outcome',
    verdict: 'pass',
    facts: { acceptance: outcomeVerdict.acceptance, ...outcomeVerdict.facts },
    micros: Math.round((performance.now() - verifying) * 1000),
  })
  if (!(await recordedInTime(ledger.conclude(operation, outcomeVerdict.acceptance, steps.slice(concludeFrom)))))
    return { kind: 'unknown', operation, why: 'the outcome is known and could not be recorded yet', steps }
  needs.at?.('concluded')
  return answerOf(operation, receipt, verdict, outcomeVerdict.acceptance, steps)
}

/** What came of a leg after its caller had been told that nobody knows yet. */
async function arrive(permit: Permit, late: WireOutcome, began: number, needs: FlowNeeds): Promise<void> {
  const steps: Step[] = []
  const answer = await concludeEffect(
    permit,
    late,
    { began, recorded: 0, signal: AbortSignal.timeout(VERIFY_WITHIN_MS) },
    needs,
    steps,
  )
  needs.onSettledLate?.(permit, answer)
}

/** Sends again only what provably never left. */
async function sendUntilSent(
  first: Permit,
  caller: Caller,
  needs: FlowNeeds,
  signal: AbortSignal,
  began: number,
): Promise<{ outcome: WireOutcome; permit: Permit }> {
  let permit = first
  for (;;) {
    const outcome = await send(permit, caller, needs, signal, began)
    if (outcome.kind !== 'not-sent') return { outcome, permit }
    if (!(await recordedInTime(needs.ledger.notSent(permit.operation, outcome.why)))) return { outcome, permit }
    const tries = permit.attempt - first.attempt + 1
    if (!mayTryAgain('E1', tries) || signal.aborted) return { outcome, permit }
    await jitteredPause(tries)
    const found = needs.catalogue.find({
      kind: 'tool',
      server: permit.action.tool.server,
      name: permit.action.tool.name,
    })
    if (permit.action.tool.kind === 'tool' && (found.state !== 'approved' || found.tool.pin !== permit.action.tool.pin))
      return { outcome, permit }
    try {
      const { attempt } = await needs.ledger.dispatchAgain(permit.operation, permit.action.tool.profile.hardDeadlineMs)
      permit = { ...permit, attempt }
    } catch (fault) {
      if (fault instanceof LedgerFault) return { outcome, permit }
      throw fault
    }
  }
}

function send(
  permit: Permit,
  caller: Caller,
  needs: FlowNeeds,
  signal: AbortSignal,
  began: number,
): Promise<WireOutcome> {
  const { profile } = permit.action.tool
  let owed = false
  const sending = needs.upstreams.send(permit, {
    softDeadlineMs: Math.min(profile.softDeadlineMs, permit.action.hold.wallMs),
    hardDeadlineMs: profile.hardDeadlineMs,
    onLate: (late) => {
      noteAnswer(late, permit, needs)
      if (permit.lane !== 'effect') return
      if (!owed) return needs.onLate?.(permit, late)
      owed = false
      arrive(permit, late, began, needs).catch((fault: unknown) => needs.onFault?.(fault, 'late answer'))
    },
    ...(caller.relayProgress === undefined ? {} : { onProgress: caller.relayProgress }),
    ...(caller.relayLogs === undefined ? {} : { logs: caller.relayLogs }),
    ...(caller.trace === undefined ? {} : { trace: caller.trace }),
    ...(needs.asks === undefined ? {} : { asking: askingOf(permit, caller.answers, needs.asks, signal) }),
    // What may have had an effect is listened to until the end, whether or not anybody still waits for it.
    ...(profile.effect === 'read' || profile.cancel === 'clean' ? { signal } : {}),
  })
  needs.at?.('sent')
  // An adapter that breaks has not proved that nothing left.
  return sending.then(
    (outcome) => {
      noteAnswer(outcome, permit, needs)
      owed = permit.lane === 'effect' && outcome.kind === 'no-answer' && outcome.listening === true
      if (owed) needs.onPending?.(permit.operation)
      return outcome
    },
    (fault: unknown) => ({
      kind: 'no-answer',
      why: 'crash',
      detail: `the upstream's adapter broke: ${fault instanceof Error ? fault.name : 'fault'}`,
    }),
  )
}

// What did not leave, and what the caller did not wait for, say nothing of the server.
function noteAnswer(outcome: WireOutcome, { action }: Permit, { breaker }: FlowNeeds): void {
  if (outcome.kind === 'not-sent' || (outcome.kind === 'no-answer' && outcome.why === 'caller-left')) return
  breaker?.note(action.tool.server, outcome.kind !== 'no-answer')
}

function accept(
  permit: Permit,
  receipt: Exclude<Receipt, { kind: 'not-sent' }>,
  needs: FlowNeeds,
  steps: Step[],
  signal: AbortSignal,
): ResultVerdict | Promise<ResultVerdict> {
  const { value, bytes } = receipt
  if (value === undefined || bytes === undefined) throw new TypeError('only an answer with a value is judged')
  const began = performance.now()
  const received =
    receipt.kind === 'unknown'
      ? ({ kind: 'unknown', standing: 'answered', why: receipt.why, value, bytes } as const)
      : { kind: receipt.kind, value, bytes }
  const judged = judgeResult({ action: permit.action, operation: permit.operation, receipt: received }, needs, signal)
  const keep = (verdict: ResultVerdict): ResultVerdict => {
    steps.push(stepOf('result', verdict, began))
    return verdict
  }
  return judged instanceof Promise ? judged.then(keep) : keep(judged)
}

/** The call has run: whatever breaks while its result is looked at may hold the result back, and change nothing else. */
function judgeResult(
  received: Parameters<typeof result.judge>[0],
  needs: FlowNeeds,
  signal: AbortSignal,
): ReturnType<typeof result.judge> {
  try {
    return result.judge(received, needs.result, signal)
  } catch (fault) {
    return refuse('RESULT_TYPE_REFUSED', {
      why: 'it could not be judged',
      fault: fault instanceof Error ? fault.name : 'fault',
    })
  }
}

type WireError = { readonly code: number; readonly message: string; readonly data?: Json }
type ResultVerdict = { readonly kind: 'pass'; readonly next: Accepted; readonly facts: Facts } | Refusal

/** The same call under the same key: what was recorded is given again, judged by the rules of today. */
async function answerAgain(
  row: OperationRow,
  bytes: Uint8Array | undefined,
  action: AuthorisedAction,
  needs: FlowNeeds,
  steps: Step[],
  signal: AbortSignal,
): Promise<Answer> {
  if (bytes === undefined)
    return { kind: 'unknown', operation: row.id, why: 'its answer was an error, and is on record', steps }
  const value = JSON.parse(Buffer.from(bytes).toString('utf8')) as { [key: string]: never }
  const permit: Permit = { action, operation: row.id, attempt: row.attempts, upstreamKey: '', lane: 'effect' }
  const verdict = await accept(permit, { kind: 'succeeded', value, bytes }, needs, steps, signal)
  await recordedInTime(needs.ledger.repeated(row.id, steps))
  if (verdict.kind === 'refuse') return refused(verdict, steps, row.id)
  return {
    kind: 'answered',
    operation: row.id,
    state: row.state,
    acceptance: row.acceptance,
    accepted: verdict.next,
    steps,
  }
}

function answerOf(
  operation: string,
  receipt: Exclude<Receipt, { kind: 'not-sent' }>,
  verdict: ResultVerdict | undefined,
  acceptance: Acceptance,
  steps: readonly Step[],
  errorState: 'failed' | 'unknown' = 'unknown',
): Answer {
  if (receipt.kind !== 'succeeded' && receipt.error !== undefined) {
    const state = receipt.kind === 'failed' ? 'failed' : errorState
    return { kind: 'upstream-error', operation, state, error: masked(receipt.error), steps }
  }
  if (verdict === undefined)
    return { kind: 'unknown', operation, why: receipt.kind === 'unknown' ? receipt.why : 'no answer', steps }
  if (verdict.kind === 'refuse') return refused(verdict, steps, operation)
  return { kind: 'answered', operation, state: receipt.kind, acceptance, accepted: verdict.next, steps }
}

/** A text of the upstream's, and no result that a gate could judge: secrets are masked all the same. */
function masked(error: WireError): WireError {
  const { code, message, data } = error
  const shown = { code, message: maskText(message).text }
  return data === undefined ? shown : { ...shown, data: JSON.parse(maskText(JSON.stringify(data)).text) as Json }
}

function refused(refusal: Refusal, steps: readonly Step[], operation: unknown): Answer {
  const { code, facts } = refusal
  return { kind: 'refused', code, facts, steps, ...(typeof operation === 'string' ? { operation } : {}) }
}

// Several callers whose server went away together do not come back together.
function jitteredPause(tries: number): Promise<void> {
  const most = ATTEMPT_PAUSE_MS[tries - 1] ?? 250
  return new Promise((resolve) => setTimeout(resolve, most * (0.5 + Math.random() / 2)))
}

export type { Point }
