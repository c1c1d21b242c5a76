import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOf } from './name.ts'
import { shown } from './plain-text.ts'

const codeOf = (text: string, kind: 'repo' | 'table' | 'record') => {
  const answer = nameOf(text, kind)
  return typeof answer === 'string' ? answer : answer.code
}

test('a plain name is taken as it was written', () => {
  for (const name of [
    'owner/name',
    'Owner/na.me_1',
    'public.users',
    'Users',
    'größe',
    'cafe\u0301',
    'demo://resource/1',
  ])
    assert.equal(codeOf(name, 'record'), name)
  assert.equal(codeOf('owner/name.git', 'repo'), 'owner/name.git')
  assert.equal(codeOf('public.My Table', 'table'), 'public.My Table')
})

test('a name that begins with a dash is refused for every kind: it could be read as an option', () => {
  for (const kind of ['repo', 'table', 'record'] as const) {
    assert.equal(codeOf('--output=/home/u/.bashrc', kind), 'SCOPE_UNSAFE')
    assert.equal(codeOf('-1', kind), 'SCOPE_UNSAFE')
  }
})

test('a name with characters that a reader does not see is refused', () => {
  for (const unseen of [
    '\u0000',
    '\n',
    '\u001b[2J',
    '\u0085',
    '\u200b',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\u{e0041}',
    '\ud800',
  ])
    assert.equal(codeOf(`a${unseen}b`, 'record'), 'SCOPE_UNSAFE', JSON.stringify(unseen))
  for (const padded of [' a', 'a ', '\u00a0a']) assert.equal(codeOf(padded, 'record'), 'SCOPE_UNSAFE')
})

test('an empty name is unreadable, an overlong one unsafe', () => {
  assert.equal(codeOf('', 'record'), 'SCOPE_UNREADABLE')
  assert.equal(codeOf('ä'.repeat(513), 'record'), 'SCOPE_UNSAFE')
  assert.equal(codeOf('ä'.repeat(512), 'record'), 'ä'.repeat(512))
})

test('a repository does not climb into another one', () => {
  for (const name of [
    'owner/../other',
    '..',
    './name',
    'owner//name',
    '/name',
    'owner/',
    'owner/%2e%2e/x',
    'a\\b',
    'a?b',
    'a#b',
  ])
    assert.equal(codeOf(name, 'repo'), 'SCOPE_UNSAFE', name)
})

test('a table is no SQL', () => {
  for (const name of [
    'users; drop table x',
    '"users"',
    '`users`',
    "users'--",
    'users--',
    'users/**/',
    '[users]',
    'f(users)',
  ])
    assert.equal(codeOf(name, 'table'), 'SCOPE_UNSAFE', name)
})

test('a foreign text is shown cut, on one line, with what is not visible written out', () => {
  assert.equal(shown('a\u202eb\n\tc'), 'a\\u{202e}b\\n\\tc')
  assert.equal(shown('x'.repeat(9), 4), 'xxxx…')
})
