import type { ApprovalView } from '../api/contract.ts'
import type { ControlClient } from '../gateway/control/client.ts'
import type { Io } from './io.ts'
import { decidedText } from './render/decided.ts'
import { fromNow } from './render/moment.ts'
import { visible } from '../flow/tool/visible.ts'

export interface Asking {
  readonly client: ControlClient
  readonly io: Io
  /** Which questions are ours to put. */
  readonly wanted: (approval: ApprovalView) => boolean
  readonly signal: AbortSignal
  /** Told of every change that is not put to the person, and of every answer. */
  readonly onChange?: (approval: ApprovalView) => void
}

/**
 * Puts waiting questions to the person at the terminal, one after the other, until the signal aborts. Resolves when the
 * gateway is watching, so that no question of a call that is made afterwards is missed; `done` is the end of it.
 *
 * With nobody at the terminal the questions are only told of: they are answered by another channel, or not at all.
 */
export async function askAlong(asking: Asking): Promise<{ readonly done: Promise<void> }> {
  const { client, io, signal } = asking
  const events = await client.watchApprovals(io.interactive ? 'terminal' : 'cli', signal)
  return { done: putAll(events, asking) }
}

async function putAll(
  events: AsyncGenerator<ApprovalView>,
  { client, io, wanted, signal, onChange }: Asking,
): Promise<void> {
  const put = new Map<string, AbortController>()
  let last: Promise<void> = Promise.resolve()
  for await (const approval of events) {
    const standing = put.get(approval.id)
    if (approval.state !== 'waiting') {
      // Somebody else was quicker, or nobody was in time: the question is taken back.
      standing?.abort()
      onChange?.(approval)
    } else if (standing === undefined && wanted(approval)) {
      const taken = new AbortController()
      put.set(approval.id, taken)
      const one = () => putOne(approval, client, io, AbortSignal.any([signal, taken.signal]))
      last = io.interactive ? last.then(one) : last.then(() => tell(approval, io))
    }
  }
  await last
}

/** Prints the question as a person has to see it before saying yes: all of it made of what was judged and will be sent. */
export function questionLines(approval: ApprovalView, io: Pick<Io, 'paint'>): string[] {
  const { id, rule, expiresAt, text } = approval
  const whole = text.includes(approval.arguments)
  return [
    '',
    io.paint('yellow', `? ${id} waits for an answer (rule “${visible(rule)}”, expires ${fromNow(expiresAt)})`),
    ...visible(text)
      .split('\n')
      .map((line) => `  ${line}`),
    ...(whole ? [] : [`  the whole arguments: countersign approval show ${id}`]),
  ]
}

function tell(approval: ApprovalView, io: Io): void {
  for (const line of questionLines(approval, io)) io.note(line)
  io.note(`  answer it with: countersign approval approve ${approval.id}   (or deny)`)
}

async function putOne(approval: ApprovalView, client: ControlClient, io: Io, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  for (const line of questionLines(approval, io)) io.err(line)
  const answer = await io.ask('  Type yes to approve, no to deny, anything else to leave it waiting: ', signal)
  const decision = decisionOf(answer)
  if (decision === undefined) {
    io.err(answer === undefined ? '' : '  Left waiting.')
    return
  }
  const decided = await client.decideApproval(approval.id, { decision, channel: 'terminal', why: '' })
  if (!('code' in decided)) return
  // Somebody else was quicker by the length of a key stroke.
  const late = decided.code === 'AUTHORISATION_STALE' && typeof decided.facts['state'] === 'string'
  io.err(
    late ? `  ${decidedText(await client.approval(approval.id))}` : `  ${decided.code}: ${decided.say} ${decided.next}`,
  )
}

/** A whole word: a stray key, or Enter alone, is no answer. */
export function decisionOf(answer: string | undefined): 'granted' | 'denied' | undefined {
  const word = answer?.trim().toLowerCase()
  if (word === 'yes') return 'granted'
  return word === 'no' ? 'denied' : undefined
}
