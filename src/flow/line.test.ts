import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, pass, refuse } from '../words/verdict.ts'
import { action, assertGenuine, type AuthorisedAction } from './action/index.ts'
import type { Gate } from './gate.ts'
import { begin, type Step } from './line.ts'

const signal = AbortSignal.timeout(5000)
const double: Gate<number, number, unknown> = { name: 'principal', judge: (n) => pass(n * 2, { n }) }
const later: Gate<number, number, unknown> = { name: 'tool', judge: async (n) => pass(n + 1) }
const text: Gate<number, string, { readonly unit: string }> = {
  name: 'resource',
  judge: (n, { unit }) => pass(`${n} ${unit}`),
}
const never: Gate<number, number, unknown> = { name: 'consent', judge: () => refuse('POLICY_DENIED', { by: 'never' }) }
const question: Gate<number, number, unknown, string> = { name: 'consent', judge: () => ask('really?') }

test('each gate takes what the one before it made, whether it answers at once or later', async () => {
  const steps: Step[] = []
  const verdict = await begin<number>()
    .through(double)
    .through(later)
    .through(text)
    .run(3, { unit: 'm' }, signal, steps)
  assert.deepEqual(verdict, { kind: 'pass', next: '7 m', facts: {} })
  assert.deepEqual(
    steps.map(({ step, verdict }) => [step, verdict]),
    [
      ['principal', 'pass'],
      ['tool', 'pass'],
      ['resource', 'pass'],
    ],
  )
})

test('gates that answer at once cost no promise', () => {
  assert.ok(!(begin<number>().through(double).through(text).run(1, { unit: 'm' }, signal, []) instanceof Promise))
})

test('nothing after a refusal or a question is run', async () => {
  for (const [gate, kind] of [
    [never, 'refuse'],
    [question, 'ask'],
  ] as const) {
    const steps: Step[] = []
    const verdict = await begin<number>().through(later).through(gate).through(double).run(1, {}, signal, steps)
    assert.equal(verdict.kind, kind)
    assert.deepEqual(
      steps.map(({ step }) => step),
      ['tool', 'consent'],
    )
  }
})

test('gates in the wrong order do not compile', () => {
  const line = begin<number>().through(text)
  // @ts-expect-error a gate on numbers cannot follow one that makes a text
  assert.ok(line.through(double))
})

test('an object that looks authorised is not', () => {
  const funded = { hold: {} } as unknown as Parameters<typeof action.judge>[0]
  const verdict = action.judge(funded, {}, signal)
  assert.ok(!(verdict instanceof Promise) && verdict.kind === 'pass')
  assertGenuine(verdict.next)
  assert.ok(Object.isFrozen(verdict.next))
  assert.throws(() => assertGenuine({ ...verdict.next } as AuthorisedAction), TypeError)
})
