import { setTimeout as pause } from 'node:timers/promises'
import { member } from '../../words/json.ts'
import type { Facts } from '../../words/verdict.ts'
import type { AuthorisedAction } from '../action/index.ts'
import type { OnBehalf, ReadBacks } from '../receipt/read-back.ts'
import type { Receipt, WireOutcome } from '../receipt/receipt.ts'
import type { Acceptance } from '../side-effect/operation.ts'
import { holds } from '../tool/condition.ts'
import type { ReadBack, ToolProfile } from '../tool/profile.ts'
import type { VerifiedOutcome } from './outcome.ts'

export interface OutcomeNeeds {
  readonly readBacks: ReadBacks
}

/** A world that has not shown it after so many looks is not looked at again while somebody waits. */
const MOST_TRIES = 5

/**
 * Says whether the world is as the call was meant to make it, by the read-back that the profile names. What the tool said
 * of itself plays no part: after a failure the world is looked at just as after a success. Resolves always; what goes
 * wrong while looking makes it `unverifiable`. `pending` means that nobody can say yet: the operation is still unknown, or
 * the signal ended the looking.
 */
export async function verifyOutcome(
  action: AuthorisedAction,
  operation: string,
  receipt: Receipt['kind'],
  { readBacks }: OutcomeNeeds,
  signal: AbortSignal,
): Promise<VerifiedOutcome> {
  const { verify } = action.tool.profile
  if (verify === undefined) return { acceptance: 'not_required', facts: {} }
  if (receipt === 'not-sent') return verdict('not_met', { why: 'nothing was sent' })
  // Whether there was an effect is for reconciliation to find out, and then this is asked again.
  if (receipt === 'unknown') return verdict('pending', { why: 'the outcome is unknown' })
  if (verify.tool === action.tool.key) {
    return verdict('unverifiable', { by: verify.tool, why: 'a tool cannot vouch for itself' })
  }
  if (verify.expect.length === 0) return verdict('unverifiable', { by: verify.tool, why: 'nothing is expected' })
  const onBehalf = { operation, principal: action.principal.id, arguments: action.proposal.arguments }
  return look(onBehalf, verify, readBacks, signal)
}

/** Asked again when it has been found out that there was an effect. `not_required` where the profile names no read-back. */
export async function verifyFound(
  onBehalf: OnBehalf,
  tool: string,
  { verify }: Pick<ToolProfile, 'verify'>,
  { readBacks }: OutcomeNeeds,
  signal: AbortSignal,
): Promise<VerifiedOutcome> {
  if (verify === undefined) return { acceptance: 'not_required', facts: {} }
  if (verify.tool === tool) return verdict('unverifiable', { by: verify.tool, why: 'a tool cannot vouch for itself' })
  if (verify.expect.length === 0) return verdict('unverifiable', { by: verify.tool, why: 'nothing is expected' })
  return look(onBehalf, verify, readBacks, signal)
}

async function look(
  onBehalf: OnBehalf,
  verify: ReadBack,
  readBacks: ReadBacks,
  signal: AbortSignal,
): Promise<VerifiedOutcome> {
  const tries = Math.max(1, Math.min(verify.tries, MOST_TRIES))
  let seen: Seen = { answer: 'unreadable', why: 'not looked' }
  for (let n = 1; n <= tries; n++) {
    try {
      await pause(verify.settleMs, undefined, { signal })
      seen = read(await readBacks.read(onBehalf, verify, signal), verify, onBehalf)
    } catch (fault) {
      if (signal.aborted) return verdict('pending', { by: verify.tool, tries: n, why: 'the looking was ended' })
      // The name of a fault at most: its message may quote what was read.
      seen = { answer: 'unreadable', why: fault instanceof Error ? fault.name : 'fault' }
    }
    if (seen.answer === 'yes') return verdict('met', { by: verify.tool, tries: n })
  }
  // The last look counts: an earlier no may have become a yes unseen.
  return seen.answer === 'unreadable'
    ? verdict('unverifiable', { by: verify.tool, tries, why: seen.why })
    : verdict('not_met', { by: verify.tool, tries })
}

type Seen = { readonly answer: 'yes' | 'no' } | { readonly answer: 'unreadable'; readonly why: string }

function read(outcome: WireOutcome, verify: ReadBack, onBehalf: OnBehalf): Seen {
  if (outcome.kind !== 'reply') return { answer: 'unreadable', why: outcome.kind }
  if (member(outcome.value, 'isError') === true) return { answer: 'unreadable', why: 'the read answered with an error' }
  return { answer: holds(verify.expect, outcome.value, onBehalf.arguments, onBehalf.facts) ? 'yes' : 'no' }
}

function verdict(acceptance: Acceptance, facts: Facts): VerifiedOutcome {
  return { acceptance, facts }
}

export type { VerifiedOutcome } from './outcome.ts'
