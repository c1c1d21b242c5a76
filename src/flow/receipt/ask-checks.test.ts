import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../../words/json.ts'
import { answerFault, askFault } from './ask-checks.ts'
import { narrowedRoots } from './ask-roots.ts'
import type { Ask } from './ask.ts'

const elicit = (params: JsonObject): Ask => ({ key: 'k', method: 'elicitation/create', params })
const form = (properties: JsonObject, required: readonly string[] = []): Ask =>
  elicit({ message: 'm', requestedSchema: { type: 'object', properties, required: [...required] } })
const text = { type: 'string' }

function codeOf(ask: Ask): number | undefined {
  const reply = askFault(ask)?.reply
  return reply?.kind === 'error' ? reply.code : undefined
}

test('a form that asks for a secret is declined, however the field is written', () => {
  for (const name of ['password', 'userPassword', 'API_KEY', 'access-token', 'PIN', 'cardNumber', 'seed_phrase', 'cvv'])
    assert.deepEqual(askFault(form({ [name]: text }))?.reply, { kind: 'result', value: { action: 'decline' } }, name)
  assert.match(askFault(form({ x: { ...text, title: 'Your password' } }))?.why ?? '', /asks for a secret/)
})

test('ordinary fields are let through, some with parts of such words in them', () => {
  for (const name of ['name', 'email', 'pinned', 'opinion', 'tokenizer', 'compass', 'keyboard', 'secretary', 'city'])
    assert.equal(askFault(form({ [name]: text })), undefined, name)
  assert.equal(askFault(form({ password: { type: 'boolean', title: 'Has a password' } })), undefined)
})

test('a form is flat and made of plain fields; anything else is malformed', () => {
  const wrong: JsonObject[] = [
    { type: 'object', properties: {} },
    { type: 'array', items: text },
    { type: 'null' },
    { $ref: '#/x' },
  ]
  for (const field of wrong) assert.equal(codeOf(form({ it: field })), -32602, JSON.stringify(field))
  assert.equal(codeOf(elicit({ message: 'm' })), -32602)
})

test('a URL is http or https, without credentials', () => {
  const url = (it: string) => askFault(elicit({ mode: 'url', message: 'm', url: it }))?.why
  assert.equal(url('https://example.org/a'), undefined)
  for (const bad of ['javascript:alert(1)', 'file:///etc/passwd', 'https://user:pw@example.org', 'no url'])
    assert.notEqual(url(bad), undefined, bad)
})

test('answers are taken in the wide form, and have to fit what was asked', () => {
  const ask = form({ n: { type: 'number' }, i: { type: 'integer' }, c: { ...text, enum: ['a', 'b'] } }, ['n'])
  const fault = (content: JsonObject) => answerFault(ask, { action: 'accept', content })
  assert.equal(fault({ n: 1.5, i: 2, c: 'a' }), undefined)
  assert.equal(fault({ n: 1 }), undefined)
  for (const bad of [{}, { n: '1' }, { n: 1, i: 1.5 }, { n: 1, c: 'z' }, { n: null }, { n: 1, other: {} }])
    assert.notEqual(fault(bad as JsonObject), undefined, JSON.stringify(bad))
  for (const action of ['decline', 'cancel']) assert.equal(answerFault(ask, { action }), undefined)
  assert.notEqual(answerFault(ask, { action: 'yes' }), undefined)
})

test('in sampling each use of a tool has its result in the next message, and results stand alone', () => {
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'n', input: {} }] }
  const result = { type: 'tool_result', toolUseId: '1', content: [] }
  const words = { type: 'text', text: 'x' }
  const fault = (...messages: JsonObject[]) =>
    askFault({ key: 'k', method: 'sampling/createMessage', params: { messages, maxTokens: 5 } })?.why
  assert.equal(fault({ role: 'user', content: words }), undefined)
  assert.equal(fault(use, { role: 'user', content: [result] }), undefined)
  assert.notEqual(fault(use), undefined)
  assert.notEqual(fault(use, { role: 'user', content: [result, words] }), undefined)
  assert.notEqual(fault({ role: 'user', content: [result] }), undefined)
})

test('roots are narrowed to what was granted, by their real paths', (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-roots-')))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of ['here/inner', 'hereafter']) mkdirSync(join(folder, name), { recursive: true })
  symlinkSync('/etc', join(folder, 'here', 'out'))
  const uri = (path: string) => pathToFileURL(join(folder, path)).href
  const narrowed = (...uris: string[]) =>
    narrowedRoots({ roots: uris.map((it) => ({ uri: it })) }, [join(folder, 'here')])
  assert.deepEqual(narrowed(uri('here/inner')), { roots: [{ uri: uri('here/inner') }] })
  assert.deepEqual(narrowed(uri('.')), { roots: [{ uri: uri('here') }] })
  for (const outside of [
    uri('hereafter'),
    uri('here/out'),
    uri('here/../hereafter'),
    'https://example.org',
    uri('gone'),
  ])
    assert.deepEqual(narrowed(outside), { roots: [] }, outside)
})
