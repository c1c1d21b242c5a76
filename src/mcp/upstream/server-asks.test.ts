import assert from 'node:assert/strict'
import test from 'node:test'
import type { Ask, AskReply, Asking } from '../../flow/receipt/ask.ts'
import type { JsonObject } from '../../words/json.ts'
import { ServerAsks } from './server-asks.ts'

interface Heard {
  readonly asks: Ask[]
  readonly told: JsonObject[]
  readonly signals: AbortSignal[]
  readonly settle: ((reply: AskReply) => void)[]
}

function asking(owner: string, heard: Heard): Asking {
  return {
    owner,
    offers: {},
    ask: (asks, signal) => {
      heard.asks.push(...asks)
      heard.signals.push(signal)
      return new Promise((resolve) => heard.settle.push((reply) => resolve([reply])))
    },
    leg: () => Promise.resolve(true),
    tell: (_method, params) => void heard.told.push(params),
  }
}

function setUp(offers: JsonObject = { elicitation: { form: {}, url: {} }, roots: {} }) {
  const asks = new ServerAsks(offers)
  const posted: JsonObject[] = []
  asks.through((text) => void posted.push(JSON.parse(text) as JsonObject))
  const heard: Heard = { asks: [], told: [], signals: [], settle: [] }
  const pauses: string[] = []
  const begin = (id: number, owner: string) =>
    asks.began(id, {
      asking: asking(owner, heard),
      pause: () => void pauses.push('pause'),
      resume: () => void pauses.push('resume'),
    })
  return { asks, posted, heard, pauses, begin }
}

const roots = (id: string | number) => ({ id, method: 'roots/list', params: {} })
const answer: AskReply = { kind: 'result', value: { roots: [] } }
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('ids of the server are answered as they came, 0 and text among them, and the deadline rests meanwhile', async () => {
  const { asks, posted, heard, pauses, begin } = setUp()
  begin(7, 'ann')
  for (const id of [0, '0', 'a b', 9007199254740991]) asks.request(roots(id), undefined)
  assert.equal(heard.asks.length, 4)
  assert.deepEqual(pauses, ['pause', 'pause', 'pause', 'pause'])
  for (const settle of heard.settle) settle(answer)
  await turn()
  assert.deepEqual(
    posted.map(({ id }) => id),
    [0, '0', 'a b', 9007199254740991],
  )
  assert.equal(pauses.filter((it) => it === 'resume').length, 4)
})

test('an id that is open already is an error under that id, and its first question stays open', async () => {
  const { asks, posted, heard, begin } = setUp()
  begin(7, 'ann')
  asks.request(roots(1), 7)
  asks.request(roots(1), 7)
  assert.deepEqual([heard.asks.length, (posted[0]!['error'] as JsonObject)['code']], [1, -32600])
  heard.settle[0]!(answer)
  await turn()
  assert.deepEqual(posted[1]?.['result'], { roots: [] })
})

test('outside of any call nobody is asked; what was not granted is not even known', () => {
  const { asks, posted } = setUp()
  asks.request(roots(1), undefined)
  asks.request(roots(2), 99)
  asks.request({ id: 3, method: 'sampling/createMessage', params: {} }, undefined)
  asks.request({ id: 4, method: 'tools/list', params: {} }, undefined)
  assert.deepEqual(
    posted.map(({ error }) => (error as JsonObject)['code']),
    [-32603, -32603, -32601, -32601],
  )
})

test('a request that names no call is given to nobody where it might be another caller’s', () => {
  const { asks, posted, heard, begin } = setUp()
  begin(1, 'ann')
  begin(2, 'ann')
  asks.request(roots('one owner'), undefined)
  assert.equal(heard.asks.length, 1)
  begin(3, 'bob')
  asks.request(roots('two owners'), undefined)
  assert.equal(heard.asks.length, 1)
  assert.match(JSON.stringify(posted[0]), /several clients/)
  asks.request(roots('its own stream says whose it is'), 3)
  assert.equal(heard.asks.length, 2)
})

test('a question that the server withdraws ends, and is not answered', async () => {
  const { asks, posted, heard, begin } = setUp()
  begin(1, 'ann')
  asks.request(roots('r'), 1)
  assert.equal(asks.notified('notifications/cancelled', { requestId: 'r' }), true)
  assert.equal(heard.signals[0]!.aborted, true)
  heard.settle[0]!(answer)
  await turn()
  assert.deepEqual(posted, [])
})

test('an elicitation is told as complete under the name that we gave it, once, and only to its own caller', () => {
  const { asks, heard, begin } = setUp()
  begin(1, 'ann')
  const url = { mode: 'url', url: 'https://example.org', message: 'm', elicitationId: 'theirs' }
  asks.request({ id: 1, method: 'elicitation/create', params: url }, 1)
  const ours = heard.asks[0]!.params['elicitationId']
  assert.notEqual(ours, 'theirs')
  for (const elicitationId of ['theirs', 'theirs', 'never heard of'])
    asks.notified('notifications/elicitation/complete', { elicitationId })
  assert.deepEqual(heard.told, [{ elicitationId: ours }])
})

test('more open questions than the bound are answered with an error', () => {
  const { asks, posted, heard, begin } = setUp()
  begin(1, 'ann')
  for (let id = 0; id < 70; id++) asks.request(roots(id), 1)
  assert.deepEqual([heard.asks.length, posted.length], [64, 6])
})
