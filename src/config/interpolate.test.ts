import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { interpolate, namesSecret } from './interpolate.ts'

const fill = (text: string, environment: Record<string, string> = {}) => {
  const found = interpolate(text, environment)
  return found.kind === 'wrong' ? found.message : found.text
}

test('a variable and its default are put in', () => {
  assert.equal(fill('${A}/x', { A: 'a' }), 'a/x')
  assert.equal(fill('${A:-b}'), 'b')
  assert.equal(fill('${A:-b}', { A: 'a' }), 'a')
  assert.equal(fill('${A:-b}', { A: '' }), 'b')
  assert.equal(fill('${A:-}'), '')
  assert.equal(fill('${A}${B}', { A: '1', B: '2' }), '12')
})

test('an unset variable without a default is wrong, and an empty one is empty', () => {
  assert.match(fill('${A}'), /A is not set/)
  assert.equal(fill('${A}', { A: '' }), '')
})

test('what is inherited by every object is no variable', () => {
  assert.match(fill('${constructor}'), /constructor is not set/)
})

test('what is not quite a reference is wrong and not passed through', () => {
  for (const text of ['${', '${}', '${A', '${1}', '${A-b}', '${env:A}', '${A:=b}'])
    assert.match(fill(text, { A: 'a' }), /no variable reference/, text)
})

test('a doubled dollar sign stands for a plain one', () => {
  assert.equal(fill('$${A}', { A: 'a' }), '${A}')
  assert.equal(fill('cost: $5'), 'cost: $5')
})

test('the value of a variable is never read as a reference, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (value, other) => {
      assert.equal(fill('<${A}>', { A: value, B: other }), `<${value}>`)
    }),
  )
  assert.equal(fill('${A}', { A: '${B}', B: 'b' }), '${B}')
  assert.equal(fill('${A}', { A: '$&$1' }), '$&$1')
})

test('names of secrets are known by their words', () => {
  for (const name of ['GITHUB_TOKEN', 'apiKey', 'x-api-key', 'DB_PASSWORD', 'clientSecret'])
    assert.ok(namesSecret(name), name)
  for (const name of ['HOME', 'KEYBOARD', 'TOKENIZER', 'monkey', 'PATH']) assert.ok(!namesSecret(name), name)
})
