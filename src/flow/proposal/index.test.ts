import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { canonical } from '../../words/canonical.ts'
import { digest } from '../../words/digest.ts'
import type { Json } from '../../words/json.ts'
import type { RawCall } from './proposal.ts'
import { type ProposalLimits, defaultLimits, propose } from './index.ts'
import type { Proposal } from './proposal.ts'

const NOW = 1_790_000_000_000

function asked(more: Partial<RawCall>): RawCall {
  return {
    target: { kind: 'tool', exported: 'notes__read_note' },
    arguments: { value: {} },
    origin: { door: 'gateway' },
    ...more,
  }
}

function made(more: Partial<RawCall>): Proposal {
  const verdict = propose(asked(more), defaultLimits, NOW)
  assert.equal(verdict.kind, 'pass', JSON.stringify(verdict))
  return (verdict as { next: Proposal }).next
}

function code(more: Partial<RawCall>, limits: ProposalLimits = defaultLimits): string {
  const verdict = propose(asked(more), limits, NOW)
  return verdict.kind === 'refuse' ? verdict.code : 'pass'
}

test('a proposal holds the canonical text of its arguments, its digest, and facts for the record that do not give it away', () => {
  const verdict = propose(asked({ arguments: { text: ' {"path": "a/b", "limit": 1e1} ' } }), defaultLimits, NOW)
  assert.equal(verdict.kind, 'pass')
  const { next, facts } = verdict as { next: Proposal; facts: object }
  assert.equal(next.canonical, '{"limit":10,"path":"a/b"}')
  assert.deepEqual(next.arguments, { limit: 10, path: 'a/b' })
  assert.equal(next.digest, digest('{"limit":10,"path":"a/b"}'))
  assert.deepEqual(facts, { bytes: 25, door: 'gateway' })
  assert.equal(next.receivedAt, NOW)
  assert.match(next.id, /^prp_[0-9a-z]{26}$/)
})

test('no text and blank text mean no arguments', () => {
  for (const text of ['', ' ', '\n\t\r ']) assert.equal(made({ arguments: { text } }).canonical, '{}')
  assert.equal(code({ arguments: { text: '\ufeff' } }), 'MALFORMED')
  assert.equal(code({ arguments: { text: '\u00a0' } }), 'MALFORMED')
})

test('arguments that are not one object are refused', () => {
  for (const text of ['[1]', 'null', '"x"', '1', 'true'])
    assert.equal(code({ arguments: { text } }), 'ARGUMENTS_NOT_AN_OBJECT', text)
  for (const value of [[1], null, 'x', 1, true]) assert.equal(code({ arguments: { value } }), 'ARGUMENTS_NOT_AN_OBJECT')
  for (const text of ['{', '{}{}', '{"a":1,}', "{'a':1}"])
    assert.equal(code({ arguments: { text } }), 'MALFORMED', text)
  assert.equal(code({ arguments: { text: '{"a":1,"a":2}' } }), 'DUPLICATE_KEY')
})

test('a refusal of text names the place and never quotes it', () => {
  const verdict = propose(asked({ arguments: { text: '{"token":"hunter2","x":hunter2}' } }), defaultLimits, NOW)
  assert.deepEqual(verdict, {
    kind: 'refuse',
    code: 'MALFORMED',
    facts: { at: 23, detail: 'a character that may not stand there' },
  })
})

test('a number that loses digits is refused as text and as a value', () => {
  for (const number of ['9007199254740993', '1e400', '-12345678901234567890']) {
    assert.equal(code({ arguments: { text: `{"a":[${number}]}` } }), 'NUMBER_OUT_OF_RANGE')
    assert.equal(code({ arguments: { value: { a: [Number(number)] } } }), 'NUMBER_OUT_OF_RANGE')
  }
  assert.equal(code({ arguments: { value: { a: Number.NaN } } }), 'NUMBER_OUT_OF_RANGE')
})

test('values from code that are not JSON are refused', () => {
  const values: unknown[] = [{ a: undefined }, { a: 1n }, { a: '\ud800' }, { a: () => 1 }]
  for (const value of values) assert.equal(code({ arguments: { value: value as Json } }), 'MALFORMED')
  const loop: { [key: string]: unknown } = {}
  loop['self'] = loop
  assert.equal(code({ arguments: { value: loop as Json } }), 'TOO_DEEP')
})

test('size and depth have limits, and what just fits passes', () => {
  const limits = { argumentBytes: 12, depth: 2 }
  assert.equal(code({ arguments: { value: { a: 'éé' } } }, limits), 'pass')
  assert.equal(code({ arguments: { value: { a: 'ééé' } } }, limits), 'TOO_LARGE')
  assert.equal(code({ arguments: { text: '{"a":  "ééé"}' } }, limits), 'TOO_LARGE')
  assert.equal(code({ arguments: { value: { a: [] } } }, limits), 'pass')
  assert.equal(code({ arguments: { value: { a: [[]] } } }, limits), 'TOO_DEEP')
  assert.equal(code({ arguments: { text: '{"a":[[]]}' } }, limits), 'TOO_DEEP')
  assert.equal(code({ target: { kind: 'tool', exported: 'x'.repeat(8193) } }), 'TOO_LARGE')
})

test('nothing that the caller still holds can change a proposal', () => {
  const value = { path: ['a'] }
  let reads = 0
  const shifty = Object.defineProperty({ ...value }, 'n', { enumerable: true, get: () => reads++ })
  const proposal = made({ arguments: { value: shifty as Json } })
  value.path[0] = '../secret'
  assert.equal(canonical(proposal.arguments), proposal.canonical)
  assert.equal(proposal.canonical, '{"n":0,"path":["a"]}')
  assert.throws(() => ((proposal as { canonical: string }).canonical += ' '))
  assert.throws(() => (proposal.arguments as { path: string[] }).path.push('b'))
  assert.throws(() => ((proposal.target as { exported: string }).exported = 'other'))
  assert.throws(() => ((proposal.origin as { door: string }).door = 'cli'))
})

test('__proto__ in arguments is an own, inert key', () => {
  const proposal = made({ arguments: { text: '{"__proto__":{"admin":true}}' } })
  assert.deepEqual(Object.keys(proposal.arguments), ['__proto__'])
  assert.equal((proposal.arguments as { admin?: boolean }).admin, undefined)
  assert.equal(proposal.canonical, '{"__proto__":{"admin":true}}')
})

test('a valid trace id is taken over and any other replaced', () => {
  const sent = '4bf92f3577b34da6a3ce929d0e0e4736'
  assert.equal(made({ traceId: sent }).traceId, sent)
  for (const traceId of ['0'.repeat(32), sent.toUpperCase(), 'xyz', `${sent}0`]) {
    const { traceId: given } = made({ traceId })
    assert.match(given, /^[0-9a-f]{32}$/)
    assert.notEqual(given, traceId)
  }
  assert.notEqual(made({}).traceId, made({}).traceId)
})

test('an idempotency key outside its pattern is refused', () => {
  const withKey = (requestKey: string) => code({ origin: { door: 'gateway', requestKey } })
  assert.equal(withKey('order-17:2026.11_30'), 'pass')
  for (const key of ['short', 'x'.repeat(256), 'has a space in it!', 'sixteen-chars-1\n', ''])
    assert.equal(withKey(key), 'MALFORMED', key)
})

test('what a caller says of itself is bounded', () => {
  const { origin } = made({
    origin: { door: 'host', callId: `${'x'.repeat(255)}😀`, client: { name: '\ud800', version: '1' } },
  })
  assert.equal(origin.callId, `${'x'.repeat(255)}\ufffd`)
  assert.equal(origin.client?.name, '\ufffd')
})

test('a resource is read with the uri of its target and nothing else', () => {
  const target = { kind: 'resource', uri: 'learning://rules' } as const
  assert.equal(made({ target }).canonical, '{"uri":"learning://rules"}')
  assert.equal(
    made({ target, arguments: { value: { uri: 'learning://rules' } } }).canonical,
    '{"uri":"learning://rules"}',
  )
  assert.equal(code({ target, arguments: { value: { uri: 'learning://secret' } } }), 'MALFORMED')
  assert.equal(code({ target, arguments: { value: { uri: 'learning://rules', more: 1 } } }), 'MALFORMED')
  assert.equal(code({ target, arguments: { value: [] } }), 'ARGUMENTS_NOT_AN_OBJECT')
})

test('the order of keys and the spelling of text make no other proposal', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 })), (object) => {
      const text = JSON.stringify(
        object,
        (_, value: unknown) => (typeof value === 'number' ? Math.trunc(value % 1e6) : value),
        1,
      )
      const backwards = Object.fromEntries(Object.entries(JSON.parse(text) as { [key: string]: Json }).toReversed())
      assert.equal(made({ arguments: { text } }).digest, made({ arguments: { value: backwards } }).digest)
    }),
  )
})
