import assert from 'node:assert/strict'
import test from 'node:test'
import type { Ask, Asking } from '../../flow/receipt/ask.ts'
import type { JsonObject } from '../../words/json.ts'
import { legacyServer } from '../../../test/fixtures/servers/asking.ts'
import { connected, permitFor, sending, textOf } from '../../../test/fixtures/servers/reach.ts'
import { memoryPair } from './memory.ts'

const weighed = { action: 'accept', content: { kilograms: 1.5, fragile: true } }
const offers = { elicitation: { form: {} } }

function person(): Asking & { readonly asked: Ask[]; readonly legs: number[] } {
  const asked: Ask[] = []
  const legs: number[] = []
  return {
    owner: 'ann',
    offers,
    asked,
    legs,
    ask: (asks) => {
      asked.push(...asks)
      return Promise.resolve(asks.map(() => ({ kind: 'result', value: weighed })))
    },
    leg: (leg) => {
      legs.push(leg)
      return Promise.resolve(true)
    },
    tell: () => {},
  }
}

test('an official server of 2025-11-25 in this process asks, is answered, and does its work once', async () => {
  const effects: string[] = []
  const open = async () => {
    const [ours, theirs] = memoryPair()
    await legacyServer((name) => void effects.push(name)).connect(theirs as never)
    return ours
  }
  await using upstream = await connected({ kind: 'memory', open }, { offers })
  const ann = person()
  const outcome = await upstream.send(permitFor('weigh'), sending({ asking: ann }))
  assert.deepEqual(JSON.parse(textOf(outcome)), weighed)
  assert.deepEqual([ann.asked.length, effects, ann.legs], [1, ['weigh'], []])
})

test('a server of 2026-07-28 in this process is told what it may ask, and gets its state back with the answers', async () => {
  const seen: JsonObject[] = []
  const open = () => {
    const [ours, theirs] = memoryPair()
    const form = { type: 'object', properties: { kilograms: { type: 'number' } } }
    const onmessage = (message: { id: number; method: string; params: JsonObject }) => {
      const say = (result: object) =>
        void theirs.send({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...result } })
      if (message.method === 'server/discover')
        return say({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' })
      seen.push(message.params)
      if (message.params['inputResponses'] !== undefined) return say({ content: [{ type: 'text', text: 'done' }] })
      const weight = { method: 'elicitation/create', params: { message: 'm', requestedSchema: form } }
      return say({ resultType: 'input_required', inputRequests: { weight }, requestState: 'mine' })
    }
    Object.assign(theirs, { onmessage })
    return theirs.start().then(() => ours)
  }
  await using upstream = await connected({ kind: 'memory', open })
  const ann = person()
  const outcome = await upstream.send(permitFor('weigh', { n: '1' }), sending({ asking: ann }))
  assert.equal(textOf(outcome), 'done')
  const metas = seen.map(({ _meta }) => (_meta as JsonObject)['io.modelcontextprotocol/clientCapabilities'])
  assert.deepEqual(metas, [offers, offers])
  assert.deepEqual([seen[1]?.['inputResponses'], seen[1]?.['requestState']], [{ weight: weighed }, 'mine'])
  assert.deepEqual(seen[1]?.['arguments'], { n: '1' })
  assert.deepEqual(ann.legs, [2])
})

test('the deadline of a call does not run while its server waits for a person', async () => {
  const open = async () => {
    const [ours, theirs] = memoryPair()
    await legacyServer(() => {}).connect(theirs as never)
    return ours
  }
  await using upstream = await connected({ kind: 'memory', open }, { offers })
  const slow: Asking = {
    ...person(),
    ask: (asks) =>
      new Promise((resolve) => setTimeout(() => resolve(asks.map(() => ({ kind: 'result', value: weighed }))), 1500)),
  }
  const outcome = await upstream.send(permitFor('weigh'), sending({ asking: slow, softDeadlineMs: 700 }))
  assert.deepEqual(JSON.parse(textOf(outcome)), weighed)
})
