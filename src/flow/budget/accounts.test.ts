import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { digest } from '../../words/digest.ts'
import type { Consented } from '../consent/consented.ts'
import { undeclared } from '../tool/profile.ts'
import { Accounts, type Budget } from './accounts.ts'
import type { Hold } from './funded.ts'

const nothing = { spentSince: () => [] }

function calling(principal: string, key: string, more: { tenant?: string; conversation?: string } = {}): Consented {
  const [server, name] = key.split('/') as [string, string]
  return {
    proposal: {
      id: 'prp_1',
      target: { kind: 'tool', server, name },
      arguments: {},
      canonical: '{}',
      digest: digest('{}'),
      origin: { door: 'cli', ...(more.conversation === undefined ? {} : { conversation: more.conversation }) },
      traceId: '1'.repeat(32),
      receivedAt: 0,
    },
    principal: { id: principal, tenant: more.tenant ?? 't', kind: 'user', groups: [], proof: 'socket' },
    tool: {
      kind: 'tool',
      key,
      server,
      name,
      exportedName: `${server}__${name}`,
      pin: digest('pin'),
      serverIdentity: digest('server'),
      serverVersion: '1',
      definition: {},
      profile: undeclared,
      checkArguments: () => [],
    },
    scopes: [],
    scopesDigest: digest('[]'),
    policyVersion: 'v',
    consent: { kind: 'not-needed', rule: 'r' },
    repeatOf: undefined,
  }
}

function held(answer: ReturnType<Accounts['hold']>): Hold {
  assert.ok(!('code' in answer), JSON.stringify(answer))
  return answer
}

test('calls of one principal are counted against it and not against another', () => {
  const accounts = new Accounts([{ name: 'few', per: 'principal', match: {}, windowMs: 1000, calls: 1 }], nothing, 0)
  held(accounts.hold(calling('ana', 'a/x'), 10)).settle({ wallMs: 1, resultBytes: 1 })
  const second = accounts.hold(calling('ana', 'a/y'), 20)
  assert.ok('code' in second)
  assert.equal(second.code, 'BUDGET_SPENT')
  assert.equal(second.facts['again'], new Date(1000).toISOString())
  held(accounts.hold(calling('bob', 'a/x'), 20))
})

test('the next window starts with nothing spent', () => {
  const accounts = new Accounts([{ name: 'few', per: 'all', match: {}, windowMs: 1000, calls: 1 }], nothing, 0)
  held(accounts.hold(calling('ana', 'a/x'), 999)).settle({ wallMs: 1, resultBytes: 1 })
  held(accounts.hold(calling('ana', 'a/x'), 1000))
})

test('a hold counts while it stands, is given back when nothing left, and cannot be settled twice', () => {
  const accounts = new Accounts(
    [{ name: 'one', per: 'tool', match: {}, windowMs: 1000, calls: 5, concurrency: 1 }],
    nothing,
    0,
  )
  const first = held(accounts.hold(calling('ana', 'a/x'), 0))
  const second = accounts.hold(calling('ana', 'a/x'), 0)
  assert.ok('code' in second && second.code === 'TOO_MANY_AT_ONCE')
  first.release()
  assert.throws(() => first.settle({ wallMs: 0, resultBytes: 0 }), /settled before/)
  held(accounts.hold(calling('ana', 'a/x'), 0))
  assert.equal(accounts.view(0)[0]?.used.calls, 1)
})

test('what the ledger says was spent in this window still counts after a restart', () => {
  const whose = { tenant: 't', conversation: '' }
  const spent = { ...whose, principal: 'ana', tool: 'a/x', effect: 'once', calls: 3, wallMs: 10, resultBytes: 500 }
  const budget: Budget = { name: 'b', per: 'principal+tool', match: { effect: ['once'] }, windowMs: 1000, calls: 3 }
  const accounts = new Accounts([budget], { spentSince: (since) => (since === 5000 ? [spent] : []) }, 5500)
  const refused = accounts.hold(calling('ana', 'a/x'), 5600)
  assert.ok('code' in refused && refused.code === 'BUDGET_SPENT')
  held(accounts.hold(calling('ana', 'a/y'), 5600))
})

test('a tenant shares one count, and each conversation of a principal has one of its own', () => {
  const shared = new Accounts([{ name: 't', per: 'tenant', match: {}, windowMs: 1000, calls: 1 }], nothing, 0)
  held(shared.hold(calling('ana', 'a/x', { tenant: 'acme' }), 0))
  assert.ok('code' in shared.hold(calling('bob', 'a/x', { tenant: 'acme' }), 0))
  held(shared.hold(calling('ana', 'a/x', { tenant: 'other' }), 0))
  const apart = new Accounts([{ name: 'c', per: 'conversation', match: {}, windowMs: 1000, calls: 1 }], nothing, 0)
  held(apart.hold(calling('ana', 'a/x', { conversation: 'one' }), 0))
  assert.ok('code' in apart.hold(calling('ana', 'a/y', { conversation: 'one' }), 0))
  held(apart.hold(calling('ana', 'a/x', { conversation: 'two' }), 0))
  held(apart.hold(calling('bob', 'a/x', { conversation: 'one' }), 0))
})

test('the very same call with the very same result is a loop; another result is progress, and another call is another', () => {
  const accounts = new Accounts([{ name: 'l', per: 'principal', match: {}, windowMs: 1000, sameCall: 3 }], nothing, 0)
  const call = (result: string, key = 'a/x') =>
    held(accounts.hold(calling('ana', key), 0)).settle({ wallMs: 1, resultBytes: 1, result: Buffer.from(result) })
  for (const result of ['same', 'same', 'new', 'new', 'new']) call(result)
  const fourth = accounts.hold(calling('ana', 'a/x'), 0)
  assert.ok('code' in fourth && fourth.code === 'LOOP_DETECTED', JSON.stringify(fourth))
  call('new', 'a/y')
  held(accounts.hold(calling('ana', 'a/x'), 1000))
})

test('what was given back without a call is no turn of a loop', () => {
  const accounts = new Accounts([{ name: 'l', per: 'all', match: {}, windowMs: 1000, sameCall: 1 }], nothing, 0)
  for (let n = 0; n < 5; n++) held(accounts.hold(calling('ana', 'a/x'), 0)).release()
  held(accounts.hold(calling('ana', 'a/x'), 0)).settle({ wallMs: 1, resultBytes: 0 })
  assert.ok('code' in accounts.hold(calling('ana', 'a/x'), 0))
})

test('whatever is held, settled and released, no more calls are let through in a window than the budget says', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.constantFrom('hold', 'settle', 'release'), { maxLength: 60 }),
      (limit, moves) => {
        const accounts = new Accounts([{ name: 'b', per: 'all', match: {}, windowMs: 1e9, calls: limit }], nothing, 0)
        const open: Hold[] = []
        let kept = 0
        for (const move of moves) {
          if (move === 'hold') {
            const answer = accounts.hold(calling('ana', 'a/x'), 1)
            if (!('code' in answer)) open.push(answer)
          } else if (move === 'settle') {
            if (open.length > 0) kept++
            open.pop()?.settle({ wallMs: 1, resultBytes: 1 })
          } else open.pop()?.release()
          assert.ok(open.length + kept <= limit)
        }
      },
    ),
  )
})
