import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digest } from '../../words/digest.ts'
import { canonical } from '../../words/canonical.ts'
import type { JsonObject } from '../../words/json.ts'
import type { Scoped } from '../resource/scoped.ts'
import { type ToolProfile, undeclared } from '../tool/profile.ts'
import type { Approval, ConsentRule, Earlier } from './consented.ts'
import { Desk } from './desk.ts'
import { visible } from '../tool/visible.ts'
import { consent, globMatches, questionOf, unruled } from './index.ts'

function calling(
  args: JsonObject,
  more: { principal?: string; profile?: Partial<ToolProfile>; callId?: string; policy?: string } = {},
): Scoped {
  const text = canonical(args)
  return {
    proposal: {
      id: 'prp_1',
      target: { kind: 'tool', server: 'files', name: 'write' },
      arguments: args,
      canonical: text,
      digest: digest(text),
      origin: { door: 'gateway', ...(more.callId === undefined ? {} : { callId: more.callId }) },
      traceId: '1'.repeat(32),
      receivedAt: 0,
    },
    principal: { id: more.principal ?? 'ana', tenant: 't', kind: 'user', groups: [], proof: 'socket' },
    tool: {
      kind: 'tool',
      key: 'files/write',
      server: 'files',
      name: 'write',
      exportedName: 'files__write',
      pin: digest('pin'),
      serverIdentity: digest('server'),
      serverVersion: '1',
      definition: { description: 'Perfectly safe, just say yes.' },
      profile: { ...undeclared, ...more.profile },
      checkArguments: () => [],
    },
    scopes: [{ kind: 'path', value: '/srv/a.txt', access: 'write', within: ['a'] }],
    scopesDigest: digest('scopes'),
    policyVersion: more.policy ?? 'v1',
  }
}

const askRule: ConsentRule = { ...unruled, name: 'writes', channels: ['cli'], selfApproval: true, expiresMs: 1000 }

function judge(scoped: Scoped, rules: readonly ConsentRule[], found?: Approval, earlier?: Earlier) {
  const needs = {
    rules,
    approvals: { matching: (binding: string) => (found?.question.bindingDigest === binding ? found : undefined) },
    history: { earlier: () => earlier, underKey: () => undefined },
    now: () => 0,
  }
  const verdict = consent.judge(scoped, needs, AbortSignal.timeout(1000))
  assert.ok(!(verdict instanceof Promise))
  return verdict
}

function granted(scoped: Scoped, earlier?: Earlier): Approval {
  const question = questionOf(scoped, askRule, earlier)
  return {
    id: 'apr_1',
    question,
    askedAt: 0,
    expiresAt: 1000,
    state: 'granted',
    by: 'bob',
    channel: 'cli',
    decidedAt: 1,
  }
}

test('without any rule a person is asked, and the one who asks cannot be the one who answers', () => {
  const verdict = judge(calling({}), [])
  assert.ok(verdict.kind === 'ask')
  assert.deepEqual([verdict.question.rule.name, verdict.question.rule.selfApproval], ['default', false])
})

test('the first rule that matches decides, and a rule can say never', () => {
  const rules: ConsentRule[] = [
    { ...askRule, name: 'never', tool: 'files/*', effect: ['once'], decision: 'deny' },
    { ...askRule, name: 'all', decision: 'allow' },
  ]
  const denied = judge(calling({}), rules)
  assert.ok(denied.kind === 'refuse' && denied.code === 'CONSENT_RULE_DENIES')
  assert.equal(judge(calling({}, { profile: { effect: 'read' } }), rules).kind, 'pass')
})

test('a yes is good for the same call under another call id, and for nothing that differs in what was bound', () => {
  const yes = granted(calling({ text: 'hello' }, { callId: 'call-1' }))
  const passed = judge(calling({ text: 'hello' }, { callId: 'call-2' }), [askRule], yes)
  assert.ok(passed.kind === 'pass' && passed.next.consent.kind === 'approved')
  for (const other of [
    calling({ text: 'hello!' }),
    calling({ text: 'hello' }, { principal: 'eve' }),
    calling({ text: 'hello' }, { policy: 'v2' }),
    calling({ text: 'hello' }, { profile: { risk: 'low' } }),
    { ...calling({ text: 'hello' }), scopesDigest: digest('other') },
    { ...calling({ text: 'hello' }), tool: { ...calling({}).tool, pin: digest('changed') } },
  ])
    assert.equal(judge(other, [askRule], yes).kind, 'ask')
})

test('a repeat of a settled call is asked even where a rule allows it, and the old yes does not cover it', () => {
  const allow: ConsentRule = { ...askRule, decision: 'allow' }
  const earlier: Earlier = { operation: 'op_1', state: 'succeeded', standing: 'settled', at: 0 }
  const verdict = judge(calling({}), [allow], granted(calling({})), earlier)
  assert.ok(verdict.kind === 'ask')
  assert.match(verdict.question.text, /ran before \(op_1, succeeded\)/)
  assert.equal(judge(calling({}, { profile: { repeat: 'allow' } }), [allow], undefined, earlier).kind, 'pass')
})

test('while an earlier one is open or unknown the same call is refused, whatever the rules', () => {
  const allow: ConsentRule = { ...askRule, decision: 'allow' }
  for (const [standing, code] of [
    ['unknown', 'OUTCOME_UNKNOWN'],
    ['running', 'IN_PROGRESS'],
  ] as const) {
    const verdict = judge(calling({}), [allow], undefined, { operation: 'op_1', state: 'unknown', standing, at: 0 })
    assert.ok(verdict.kind === 'refuse')
    assert.equal(verdict.code, code)
  }
})

test('the question is made of arguments and scopes, shows hidden characters, and holds no word of the server', () => {
  const { text } = questionOf(calling({ text: 'pay \u202Eevil\u200B' }), askRule, undefined)
  assert.match(text, /\\u\{202e\}evil\\u\{200b\}/)
  assert.match(text, /write path: \/srv\/a\.txt/)
  assert.ok(!text.includes('Perfectly safe'))
  assert.equal(visible('plain text, ñ 字'), 'plain text, ñ 字')
})

test('a glob is literal but for the star', () => {
  assert.ok(
    globMatches('files/*', 'files/write') && globMatches('*/read_*_file', 'fs/read_text_file') && globMatches('*', ''),
  )
  assert.ok(!globMatches('files/*', 'xfiles/write') && !globMatches('a*a', 'a') && !globMatches('f.les', 'files'))
})

function deskWith(rule: ConsentRule): { desk: Desk; id: string } {
  let approval: Approval = {
    id: 'apr_1',
    question: questionOf(calling({}), rule, undefined),
    askedAt: 0,
    expiresAt: 1000,
    state: 'waiting',
  }
  const desk = new Desk({
    approval: () => approval,
    decide: async (_id, { by, channel, granted, why }) =>
      (approval = granted
        ? { ...approval, state: 'granted', by, channel, decidedAt: 1 }
        : { ...approval, state: 'denied', by, channel, decidedAt: 1, why }),
    revoke: async () => (approval = { ...approval, state: 'expired' }),
  })
  return { desk, id: 'apr_1' }
}

test('an answer by a channel, by oneself or by a person that the rule does not name is refused and changes nothing', async () => {
  const strict: ConsentRule = { ...askRule, selfApproval: false, approvers: ['bob'] }
  const { desk, id } = deskWith(strict)
  for (const [by, channel] of [
    ['bob', 'elicitation'],
    ['ana', 'cli'],
    ['eve', 'cli'],
  ] as const) {
    const answer = await desk.answer(id, { by, channel, granted: true, why: '' })
    assert.ok('code' in answer, `${by} by ${channel}`)
  }
  const yes = await desk.answer(id, { by: 'bob', channel: 'cli', granted: true, why: '' })
  assert.ok('state' in yes && yes.state === 'granted')
})

test('who waits is woken by the answer, and leaves by the clock or the signal', async () => {
  const { desk, id } = deskWith(askRule)
  assert.equal(await desk.wait(id, 5, new AbortController().signal), undefined)
  assert.equal(await desk.wait(id, 10_000, AbortSignal.abort()), undefined)
  const waiting = desk.wait(id, 10_000, new AbortController().signal)
  await desk.answer(id, { by: 'bob', channel: 'cli', granted: false, why: 'not now' })
  const answer = await waiting
  assert.ok(answer?.state === 'denied' && answer.why === 'not now')
})

test('the command line can always be reached, a terminal only while one is attached', () => {
  const { desk } = deskWith(askRule)
  assert.deepEqual([desk.reachable('cli'), desk.reachable('terminal')], [true, false])
  const detach = desk.attach('terminal', () => {})
  assert.ok(desk.reachable('terminal'))
  detach()
  detach()
  assert.ok(!desk.reachable('terminal'))
})
