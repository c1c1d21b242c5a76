import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../words/json.ts'
import type { ScopeExtractor } from '../tool/profile.ts'
import { MAX_SCOPES, extract } from './extract.ts'

const path = (from: string, more: Partial<ScopeExtractor> = {}): ScopeExtractor => ({
  kind: 'path',
  from,
  access: 'read',
  ...more,
})

function drawn(given: JsonObject, ...extractors: ScopeExtractor[]): unknown {
  const answer = extract(given, extractors)
  return 'kind' in answer ? { code: answer.code, ...answer.facts } : answer.map(({ at, text }) => [at, text])
}

const no = (at: string, because: string, scope = 'path') => ({ code: 'SCOPE_UNREADABLE', scope, at, because })

test('a value is drawn by its pointer, with where it was', () => {
  assert.deepEqual(drawn({ path: 'a' }, path('/path')), [['/path', 'a']])
  assert.deepEqual(drawn({ a: [{ 'b/c': 'x' }] }, path('/a/0/b~1c')), [['/a/0/b~1c', 'x']])
})

test('a star draws from every element', () => {
  const files = { files: [{ path: 'a' }, { path: 'b' }] }
  assert.deepEqual(drawn(files, path('/files/*/path')), [
    ['/files/0/path', 'a'],
    ['/files/1/path', 'b'],
  ])
})

test('a missing argument is refused with its pointer, since it may mean everything to the server', () => {
  assert.deepEqual(drawn({}, path('/path')), no('/path', 'it is missing'))
  assert.deepEqual(drawn({ path: null }, path('/path')), no('/path', 'it is missing'))
  assert.deepEqual(drawn({ files: [{ path: 'a' }, {}] }, path('/files/*/path')), no('/files/1/path', 'it is missing'))
  assert.deepEqual(drawn({ files: [] }, path('/files/*')), no('/files/*', 'it is an empty list'))
})

test('an optional argument may be missing, empty or null, but not of another type', () => {
  const maybe = path('/paths/*', { optional: true })
  assert.deepEqual(drawn({}, maybe), [])
  assert.deepEqual(drawn({ paths: [] }, maybe), [])
  assert.deepEqual(drawn({ paths: null }, maybe), [])
  assert.deepEqual(drawn({ paths: ['a', null] }, maybe), [['/paths/0', 'a']])
  assert.deepEqual(drawn({ paths: 'a' }, maybe), no('/paths', 'it is not a list'))
  assert.deepEqual(drawn({ paths: { length: 1, 0: 'a' } }, maybe), no('/paths', 'it is not a list'))
  assert.deepEqual(
    drawn({ options: 'a' }, path('/options/path', { optional: true })),
    no('/options/path', 'it is not a member of an object'),
  )
})

test('a value of the wrong type is refused with its pointer', () => {
  for (const wrong of [1, true, {}, [], ['a']])
    assert.deepEqual(drawn({ path: wrong }, path('/path')), no('/path', 'it is not a text'))
  assert.deepEqual(
    drawn({ id: 1.5 }, path('/id', { kind: 'record' })),
    no('/id', 'it is not a text or a whole number', 'record'),
  )
})

test('a record may be a whole number', () => {
  assert.deepEqual(drawn({ id: 42 }, path('/id', { kind: 'record' })), [['/id', '42']])
})

test('what an object inherits is not an argument', () => {
  assert.deepEqual(drawn({}, path('/constructor/name')), no('/constructor', 'it is missing'))
  assert.deepEqual(drawn({ a: [] }, path('/a/length')), no('/a/length', 'it is not a member of an object'))
})

test('a literal is the text of the profile and reads no argument', () => {
  assert.deepEqual(drawn({ graph: 'other' }, { kind: 'literal', from: 'graph', access: 'write' }), [['', 'graph']])
})

test('more scopes than the limit are refused, over one extractor and over all', () => {
  const many = Array.from({ length: MAX_SCOPES }, (_, n) => `f${n}`)
  assert.equal((drawn({ paths: many }, path('/paths/*')) as unknown[]).length, MAX_SCOPES)
  const more = no('/paths/*', `the call touches more than ${MAX_SCOPES} things`)
  assert.deepEqual(drawn({ paths: [...many, 'one'] }, path('/paths/*')), more)
  assert.deepEqual(drawn({ paths: many, first: 'x' }, path('/first'), path('/paths/*')), more)
  const square = { rows: Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 'x')) }
  assert.equal((drawn(square, path('/rows/*/*')) as { code: string }).code, 'SCOPE_UNREADABLE')
})
