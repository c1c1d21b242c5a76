import type { ApprovalView } from '../../api/contract.ts'
import { moment } from './moment.ts'
import { plain } from './width.ts'

/** Why a second answer to a question counts for nothing: what became of it, by whom, when and why. */
export function decidedText({ id, state, by, channel, decidedAt, why }: ApprovalView): string {
  if (state === 'expired') return `${id} has expired without an answer. Send the call again; it is asked anew.`
  const told = state === 'denied' ? 'denied' : state === 'used' ? 'approved, and the yes is used up' : 'approved'
  const who = [by, channel === undefined ? undefined : `by ${channel}`, moment(decidedAt)].filter(
    (it) => it !== undefined && it !== '',
  )
  return `${id}: it was already ${told} (by ${plain(who.join(', '))})${why ? `: ${plain(why)}` : ''}. Nothing was changed.`
}
