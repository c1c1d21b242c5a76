import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../flow/answer.ts'
import type { Approval } from '../flow/consent/consented.ts'
import { toolAnswerOf } from './toolbox.ts'

const remarks = { bytes: 2, contentTypes: ['text'], schema: 'none', masked: [], signs: [] } as const
const accepted = { bytes: Buffer.from('{}'), value: { content: [] }, isError: false, remarks }
const settled = { operation: 'op_1', acceptance: 'not_required', steps: [] } as const

test('an accepted result keeps its value, what was verified of it, and what the gate found', () => {
  const answer: Answer = { ...settled, kind: 'answered', state: 'succeeded', accepted }
  assert.deepEqual(toolAnswerOf(answer), {
    kind: 'result',
    value: { content: [] },
    isError: false,
    operation: 'op_1',
    acceptance: 'not_required',
  })
  const found = { ...accepted, remarks: { ...remarks, signs: ['x'], spilled: 'countersign://spill/1' } }
  const marked = toolAnswerOf({ ...settled, kind: 'answered', state: 'succeeded', accepted: found })
  assert.deepEqual(marked.kind === 'result' && [marked.signs, marked.spilled], [['x'], 'countersign://spill/1'])
})

test('an error of the upstream is a result that failed', () => {
  const error = { code: -32602, message: 'Unknown tool' }
  const answer = toolAnswerOf({ kind: 'upstream-error', operation: 'op_1', state: 'unknown', error, steps: [] })
  assert.equal(answer.kind === 'result' && answer.isError, true)
  assert.match(JSON.stringify(answer), /error -32602: Unknown tool/)
})

test('a refusal carries the words of the one table; a question that nobody carries is one too', () => {
  const refused = toolAnswerOf({ kind: 'refused', code: 'SCOPE_OUTSIDE', facts: { path: '/x' }, steps: [] })
  assert.deepEqual(refused, {
    kind: 'refused',
    code: 'SCOPE_OUTSIDE',
    say: 'What the call would touch lies outside what this tool may touch.',
    next: 'Stay inside the folders and hosts that the configuration declares.',
    facts: { path: '/x' },
  })
  const approval = { id: 'apr_1', state: 'expired' } as unknown as Approval
  const asked = toolAnswerOf({ kind: 'asked', approval, steps: [] })
  assert.deepEqual(asked.kind === 'refused' && [asked.code, asked.approval], ['APPROVAL_WAITING', 'apr_1'])
})

test('an unknown outcome stays unknown', () => {
  assert.deepEqual(toolAnswerOf({ kind: 'unknown', operation: 'op_1', why: 'deadline', steps: [] }), {
    kind: 'unknown',
    operation: 'op_1',
    why: 'deadline',
  })
})
