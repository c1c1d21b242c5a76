import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import { action as mint, type AuthorisedAction } from '../action/index.ts'
import type { WireOutcome } from '../receipt/receipt.ts'
import { type ReadBack, undeclared } from '../tool/profile.ts'
import { verifyOutcome } from './index.ts'
import type { OnBehalf, ReadBacks } from './outcome.ts'

const verify: ReadBack = {
  tool: 'notes/read_note',
  arguments: { path: { $argument: '/path' } },
  expect: [{ at: '/structuredContent/path', equals: { $argument: '/path' } }],
  settleMs: 1,
  tries: 3,
  maxExecutionMs: 1_000,
}

function acting(verify?: ReadBack): AuthorisedAction {
  const minted = mint.judge(
    {
      proposal: {
        id: 'prp_1',
        target: { kind: 'tool', server: 'notes', name: 'write_note' },
        arguments: { path: 'a.md' },
        canonical: '{"path":"a.md"}',
        digest: digest('{"path":"a.md"}'),
        origin: { door: 'gateway' },
        traceId: '1'.repeat(32),
        receivedAt: 0,
      },
      principal: { id: 'ada', tenant: 'home', kind: 'user', groups: [], proof: 'token' },
      tool: {
        kind: 'tool',
        key: 'notes/write_note',
        server: 'notes',
        name: 'write_note',
        exportedName: 'notes__write_note',
        pin: digest('pin'),
        serverIdentity: digest('identity'),
        serverVersion: '1',
        definition: {},
        profile: { ...undeclared, ...(verify === undefined ? {} : { verify }) },
        checkArguments: () => [],
      },
      scopes: [],
      scopesDigest: digest('[]'),
      policyVersion: '1',
      consent: { kind: 'not-needed', rule: 'all' },
      repeatOf: undefined,
      hold: { id: 1, wallMs: 1_000, resultBytes: 1_000, settle: () => {}, release: () => {} },
    },
    {},
    AbortSignal.timeout(1_000),
  ) as { next: AuthorisedAction }
  return minted.next
}

/** A world that answers each look in turn, and the last answer for ever. */
class World implements ReadBacks {
  readonly looks: OnBehalf[] = []
  readonly #answers: readonly (WireOutcome | Error)[]
  constructor(...answers: (WireOutcome | Error)[]) {
    this.#answers = answers
  }
  read(onBehalf: OnBehalf): Promise<WireOutcome> {
    this.looks.push(onBehalf)
    const answer = this.#answers[Math.min(this.looks.length, this.#answers.length) - 1]!
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
}

function reply(value: JsonObject): WireOutcome {
  return { kind: 'reply', value, bytes: Buffer.from(JSON.stringify(value)) }
}
const there = reply({ content: [], structuredContent: { path: 'a.md' } })
const notThere = reply({ content: [], structuredContent: { path: 'b.md' } })
const error = reply({ content: [], structuredContent: { path: 'a.md' }, isError: true })
const silence: WireOutcome = { kind: 'no-answer', why: 'deadline', detail: '' }

function outcome(world: ReadBacks, receipt: 'succeeded' | 'failed' | 'not-sent' | 'unknown', by?: ReadBack) {
  return verifyOutcome(acting(by), 'op_1', receipt, { readBacks: world }, AbortSignal.timeout(5_000))
}

test('without a read-back in the profile nothing is looked at and nothing is required', async () => {
  const world = new World(there)
  assert.deepEqual(await outcome(world, 'succeeded'), { acceptance: 'not_required', facts: {} })
  assert.deepEqual(world.looks, [])
})

test('the world that shows the effect meets it, on behalf of the one who asked', async () => {
  const world = new World(there)
  assert.deepEqual(await outcome(world, 'succeeded', verify), {
    acceptance: 'met',
    facts: { by: 'notes/read_note', tries: 1 },
  })
  assert.deepEqual(world.looks, [{ operation: 'op_1', principal: 'ada', arguments: { path: 'a.md' } }])
})

test('a world that shows it late is given the tries that the profile grants, and no more', async () => {
  const late = new World(notThere, silence, there)
  assert.deepEqual((await outcome(late, 'succeeded', verify)).facts, { by: 'notes/read_note', tries: 3 })
  const never = new World(notThere)
  assert.equal((await outcome(never, 'succeeded', verify)).acceptance, 'not_met')
  assert.equal(never.looks.length, 3)
  await outcome(never, 'succeeded', { ...verify, tries: 1_000 })
  assert.equal(never.looks.length, 8)
})

test('the tool’s own word counts for nothing: after a success it may be not met, after a failure met', async () => {
  assert.equal((await outcome(new World(notThere), 'succeeded', verify)).acceptance, 'not_met')
  assert.equal((await outcome(new World(there), 'failed', verify)).acceptance, 'met')
})

test('what cannot be read proves neither: the last look decides', async () => {
  for (const unreadable of [silence, error, { kind: 'not-sent', why: 'down' } as const, new RangeError('secret')]) {
    const found = await outcome(new World(notThere, unreadable), 'succeeded', verify)
    assert.equal(found.acceptance, 'unverifiable')
    assert.equal(JSON.stringify(found).includes('secret'), false)
  }
  assert.equal((await outcome(new World(silence, silence, notThere), 'succeeded', verify)).acceptance, 'not_met')
})

test('a tool does not vouch for itself, and expecting nothing proves nothing', async () => {
  const world = new World(there)
  const self = { ...verify, tool: 'notes/write_note' }
  assert.equal((await outcome(world, 'succeeded', self)).acceptance, 'unverifiable')
  assert.equal((await outcome(world, 'succeeded', { ...verify, expect: [] })).acceptance, 'unverifiable')
  assert.deepEqual(world.looks, [])
})

test('what is unknown stays pending until it is reconciled, and what was never sent is not met', async () => {
  const world = new World(there)
  assert.equal((await outcome(world, 'unknown', verify)).acceptance, 'pending')
  assert.equal((await outcome(world, 'not-sent', verify)).acceptance, 'not_met')
  assert.deepEqual(world.looks, [])
})

test('ended in the middle, the looking leaves it pending and does not wait on', async () => {
  const stop = new AbortController()
  const world: ReadBacks = {
    read: () => {
      stop.abort()
      return Promise.resolve(notThere)
    },
  }
  const patient = { ...verify, settleMs: 0, tries: 5 }
  const found = await verifyOutcome(acting(patient), 'op_1', 'succeeded', { readBacks: world }, stop.signal)
  assert.deepEqual(found.acceptance, 'pending')
  const before = await verifyOutcome(
    acting({ ...verify, settleMs: 60_000 }),
    'op_1',
    'succeeded',
    { readBacks: world },
    AbortSignal.abort(),
  )
  assert.equal(before.acceptance, 'pending')
})
