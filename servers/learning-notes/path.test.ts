import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { namesIn } from './path.ts'
import { standardLimits } from './rules.ts'

const refusedPaths: ReadonlyArray<readonly [path: string, because: RegExp]> = [
  ['', /empty/],
  ['/etc/passwd.md', /relative/],
  ['//a.md', /relative/],
  ['../a.md', /\.\./],
  ['a/../../b.md', /\.\./],
  ['./a.md', /\. or \.\./],
  ['a//b.md', /empty name/],
  ['a.md/', /empty name/],
  ['a\\..\\b.md', /backslash/],
  ['..\\b.md', /dot/],
  ['C:\\notes\\a.md', /backslash/],
  ['a.md\0.txt', /control/],
  ['a\n.md', /control/],
  ['a\u009b.md', /control/],
  ['.hidden/a.md', /dot are hidden/],
  ['.md', /dot are hidden/],
  ['...md', /dot are hidden/],
  ['a.md.', /end with a dot/],
  ['a.md ', /end with a dot or a space/],
  ['a /b.md', /end with a dot or a space/],
  ['a./b.md', /end with a dot/],
  ['\ud800.md', /broken Unicode/],
  ['\ufffd.md', /broken Unicode/],
  [`${'a/'.repeat(13)}b.md`, /12 folders/],
  [`${'é'.repeat(511)}.md`, /1024 bytes/],
]

test('a path that could lead elsewhere, or look like another, is refused by its text alone and told why', () => {
  for (const [path, because] of refusedPaths) {
    const names = namesIn(path, standardLimits)
    assert.ok(!names.ok, JSON.stringify(path))
    assert.equal(names.problem.code, 'path_invalid')
    assert.match(names.problem.say, because)
  }
})

test('nothing is decoded: percent signs, tildes, quotes and wide dots are letters like any other', () => {
  for (const path of [
    '%2e%2e/a.md',
    '%2e%2e%2fa.md',
    '~/a.md',
    '$HOME/a.md',
    '．．/a.md',
    "a'b.md",
    '学习/笔记.md',
    'C:/a.md',
  ]) {
    assert.deepEqual(namesIn(path, standardLimits), { ok: true, value: path.split('/') })
  }
})

test('an accepted path is given back name by name, as it was written, and holds no name that leads elsewhere', () => {
  const name = fc.oneof(
    fc.constantFrom('.', '..', '', ' ', 'a', 'a.', '.a', 'a\\b', '%2e%2e', 'x.md'),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.array(name, { maxLength: 6 }), (parts) => {
      const path = parts.join('/')
      const names = namesIn(path, standardLimits)
      if (!names.ok) return
      assert.equal(names.value.join('/'), path)
      for (const name of names.value) assert.doesNotMatch(name, /^\.|^$|[/\\\0]|[. ]$/)
    }),
  )
})
