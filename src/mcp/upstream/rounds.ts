import { setTimeout as sleep } from 'node:timers/promises'
import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import { type Ask, type Asking, isAskMethod } from '../../flow/receipt/ask.ts'
import { isJsonObject, member, textMember, type JsonObject } from '../../words/json.ts'
import type { Ended } from './link.ts'

/** What a further leg of a call carries besides its arguments. */
export interface Round {
  readonly inputResponses?: JsonObject
  readonly requestState?: string
}

const MOST_LEGS = 10
const PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/**
 * A call of the modern era that its server interrupts to ask something (2026-07-28, "Multi round-trip requests"). Each further
 * leg goes on with what the server has answered, carries its state back to the byte, and is on record before it leaves: it is
 * the same attempt, and nothing in it is sent a second time.
 */
export async function throughRounds(
  leg: (round: Round) => Promise<Ended>,
  asking: Asking | undefined,
  signal: AbortSignal,
): Promise<WireOutcome> {
  let round: Round = {}
  for (let legs = 1; ; legs++) {
    const { outcome, interim } = await leg(round)
    // Of a later leg it is proved that it did not leave; of the call that is no proof.
    if (outcome.kind === 'not-sent' && legs > 1)
      return {
        kind: 'no-answer',
        why: 'closed',
        detail: `it asked something, and its answer was not sent: ${outcome.why}`,
      }
    if (interim === undefined) return outcome
    const asks = asksOf(interim)
    const requestState = textMember(interim, 'requestState')
    if (asking === undefined || asks === undefined || (asks.length === 0 && requestState === undefined)) return outcome
    if (legs >= MOST_LEGS)
      return { kind: 'no-answer', why: 'garbage', detail: `it asked something ${MOST_LEGS} times and did not answer` }
    const replies = asks.length === 0 ? [] : await asking.ask(asks, signal)
    const failed = replies.find((reply) => reply.kind === 'error')
    // There is no form in which this era could be told of an error.
    if (failed !== undefined) {
      const { code, message, data } = failed
      return { kind: 'error', code, message, ...(data !== undefined && { data }) }
    }
    if (asks.length === 0) {
      const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (legs - 1))
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {})
    }
    if (!(await asking.leg(legs + 1)))
      return {
        kind: 'no-answer',
        why: 'closed',
        detail: 'it asked something, and the next leg could not be put on record',
      }
    const inputResponses = Object.fromEntries(
      asks.flatMap(({ key }, n) => {
        const reply = replies[n]
        return reply?.kind === 'result' ? [[key, reply.value] as const] : []
      }),
    )
    round = {
      ...(asks.length > 0 && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    }
  }
}

function asksOf(interim: JsonObject): readonly Ask[] | undefined {
  const requests = member(interim, 'inputRequests')
  if (requests === undefined) return []
  if (!isJsonObject(requests)) return undefined
  const asks: Ask[] = []
  for (const [key, request] of Object.entries(requests)) {
    const method = isJsonObject(request) ? textMember(request, 'method') : undefined
    if (method === undefined || !isAskMethod(method)) return undefined
    const params = member(request as JsonObject, 'params')
    asks.push({ key, method, params: isJsonObject(params) ? params : {} })
  }
  return asks
}
