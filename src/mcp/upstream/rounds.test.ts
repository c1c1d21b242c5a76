import assert from 'node:assert/strict'
import test from 'node:test'
import type { Ask, AskReply, Asking } from '../../flow/receipt/ask.ts'
import type { JsonObject } from '../../words/json.ts'
import type { Ended } from './link.ts'
import { type Round, throughRounds } from './rounds.ts'

const never = new AbortController().signal
const done: Ended = { outcome: { kind: 'reply', value: { content: [] }, bytes: Buffer.from('{"content":[]}') } }
const garbage = { kind: 'no-answer', why: 'garbage', detail: 'a result of the type "input_required"' } as const
const interim = (value: JsonObject): Ended => ({ outcome: garbage, interim: value })
const form = { method: 'elicitation/create', params: { message: 'm' } }

function play(
  ends: readonly Ended[],
  reply: AskReply = { kind: 'result', value: { action: 'decline' } },
  records = true,
) {
  const legs: Round[] = []
  const asked: Ask[] = []
  const recorded: number[] = []
  const asking: Asking = {
    owner: '',
    offers: {},
    ask: (asks) => {
      asked.push(...asks)
      return Promise.resolve(asks.map(() => reply))
    },
    leg: (leg) => {
      recorded.push(leg)
      return Promise.resolve(records)
    },
    tell: () => {},
  }
  const outcome = throughRounds(
    (round) => {
      legs.push(round)
      return Promise.resolve(ends[legs.length - 1]!)
    },
    asking,
    never,
  )
  return { outcome, legs, asked, recorded }
}

test('answers go back under the keys of the server with its state to the byte, each leg on record before it leaves', async () => {
  const state = ' opaque/é\u2028 '
  const played = play([
    interim({ inputRequests: { one: form, two: { method: 'roots/list' } }, requestState: state }),
    interim({ inputRequests: { three: form } }),
    done,
  ])
  assert.equal(await played.outcome, done.outcome)
  const value = { action: 'decline' }
  assert.deepEqual(played.legs, [
    {},
    { inputResponses: { one: value, two: value }, requestState: state },
    { inputResponses: { three: value } },
  ])
  assert.deepEqual(played.recorded, [2, 3])
})

test('a state without a question means: again, later', async () => {
  const played = play([interim({ requestState: 's' }), done])
  assert.equal(await played.outcome, done.outcome)
  assert.deepEqual([played.legs, played.asked], [[{}, { requestState: 's' }], []])
})

test('a leg that cannot be put on record does not leave, and nothing is claimed of the call', async () => {
  const played = play([interim({ inputRequests: { one: form } })], undefined, false)
  assert.equal((await played.outcome).kind, 'no-answer')
  assert.equal(played.legs.length, 1)
})

test('that a later leg was not sent is no proof that the call was not', async () => {
  const unsent: Ended = { outcome: { kind: 'not-sent', why: 'the connection is closed' } }
  assert.equal((await play([unsent]).outcome).kind, 'not-sent')
  assert.equal((await play([interim({ inputRequests: { one: form } }), unsent]).outcome).kind, 'no-answer')
})

test('what cannot be answered ends the call with the error that a client would have given', async () => {
  const refusal: AskReply = { kind: 'error', code: -1, message: 'the user said no' }
  const played = play([interim({ inputRequests: { one: form } })], refusal)
  assert.deepEqual(await played.outcome, { kind: 'error', code: -1, message: 'the user said no' })
  assert.equal(played.legs.length, 1)
})

test('a question of no known kind, none at all, and questions without end are no answer', async () => {
  for (const wrong of [{}, { inputRequests: { one: { method: 'tools/call' } } }, { inputRequests: [] }])
    assert.equal(await play([interim(wrong)]).outcome, garbage)
  const endless = play(Array.from({ length: 20 }, () => interim({ inputRequests: { one: form } })))
  assert.equal((await endless.outcome).kind, 'no-answer')
  assert.equal(endless.legs.length, 10)
})
