import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Access } from '../tool/profile.ts'
import { locate, survey } from './path.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-path-')))
after(() => rmSync(top, { recursive: true }))
const data = join(top, 'data')
for (const folder of ['data/inner', 'data-other', 'data/café']) mkdirSync(join(top, folder), { recursive: true })
for (const file of ['data/a.md', 'data/inner/b.md', 'data-other/x.md']) writeFileSync(join(top, file), 'text')
const roots = [
  { name: 'data', path: data },
  { name: 'inner', path: join(data, 'inner') },
  { name: 'gone', path: join(top, 'gone') },
]

function find(
  path: string,
  { access = 'read' as Access, base = 'data' as string | null, among = roots } = {},
): unknown {
  const answer = locate(path, access, base ?? undefined, survey(among, []))
  return 'because' in answer ? answer.code : [answer.value, ...answer.within]
}

test('an absolute path is its real path, with the names of all roots that hold it', () => {
  assert.deepEqual(find(`${data}/a.md`), [`${data}/a.md`, 'data'])
  assert.deepEqual(find(`${data}/inner/b.md`), [`${data}/inner/b.md`, 'data', 'inner'])
  assert.deepEqual(find(data), [data, 'data'])
  assert.deepEqual(find(`${data}/./inner//../a.md`), [`${data}/a.md`, 'data'])
  assert.deepEqual(find(`${data}/inner/`), [`${data}/inner`, 'data', 'inner'])
})

test('a relative path starts from the base of the profile, and from nowhere else', () => {
  assert.deepEqual(find('a.md'), [`${data}/a.md`, 'data'])
  assert.deepEqual(find('.'), [data, 'data'])
  assert.deepEqual(find('b.md', { base: 'inner' }), [`${data}/inner/b.md`, 'data', 'inner'])
  assert.equal(find('a.md', { base: null }), 'SCOPE_UNREADABLE')
  assert.equal(find('a.md', { base: 'nobody declared it' }), 'SCOPE_UNREADABLE')
})

test('a path that does not exist yet is its deepest existing ancestor with the rest', () => {
  assert.deepEqual(find('new/deep/file.md', { access: 'write' }), [`${data}/new/deep/file.md`, 'data'])
  assert.equal(find('../new/file.md', { access: 'write' }), 'SCOPE_OUTSIDE')
})

test('a root holds by whole names: a sibling with the same beginning is outside', () => {
  assert.equal(find(`${top}/data-other/x.md`), 'SCOPE_OUTSIDE')
  assert.equal(find('../data-other/x.md'), 'SCOPE_OUTSIDE')
  assert.equal(find(top), 'SCOPE_OUTSIDE')
  assert.equal(find('/'), 'SCOPE_OUTSIDE')
  assert.equal(find('../../../../../../../../../../etc/passwd'), 'SCOPE_OUTSIDE')
})

test('a root that does not exist holds nothing, and no roots hold nothing', () => {
  assert.equal(find(`${top}/gone/x`), 'SCOPE_OUTSIDE')
  assert.equal(find(`${data}/a.md`, { among: [] }), 'SCOPE_OUTSIDE')
})

test('the whole file system can be a root, if that is what the operator says', () => {
  assert.deepEqual(find('/', { among: [{ name: 'all', path: '/' }] }), ['/', 'all'])
  assert.deepEqual(find(`${data}/a.md`, { among: [{ name: 'all', path: '/' }] }), [`${data}/a.md`, 'all'])
})

test('outside, the answer does not tell what there is', () => {
  const because = (path: string) => JSON.stringify(locate(path, 'read', 'data', survey(roots, [])))
  const said = because(`${top}/data-other/x.md`)
  for (const path of ['/no/such/place', `${top}/data-other/no`, `${top}/data-other/x.md/y`, '/proc/self/cwd'])
    assert.equal(because(path), said)
})

test('up from what does not exist or is no folder is refused: the kernel stops there, others go on', () => {
  for (const path of ['new/../a.md', 'new/../../data-other/y.md', 'a.md/../inner/b.md', 'inner/new/../b.md'])
    assert.equal(find(path, { access: 'write' }), 'SCOPE_UNSAFE', path)
})

test('through a file there is no way', () => {
  for (const path of ['a.md/b', 'a.md/', 'a.md/.']) assert.equal(find(path), 'SCOPE_UNREADABLE', path)
  assert.deepEqual(find('new/', { access: 'write' }), [`${data}/new`, 'data'])
})

const unsafe: Record<string, readonly string[]> = {
  'NUL and control characters': ['a\u0000.md', 'a.md\u0000.png', 'a\nb', 'a\rb', 'a\u001b[2Jb', 'a\u007f', 'a\u0085b'],
  'characters that are not seen': ['a\u200bb', 'a\u202edm.b', 'a\u2066b', 'a\ufeffb', 'a\u{e0061}b', 'a\u2028b'],
  'broken Unicode': ['a\ud800', '\udc00b'],
  'encoded characters': [
    '%2e%2e/x',
    'a%2fb',
    'a%2Fb',
    'a%5cb',
    '%252e%252e/x',
    '%c0%ae%c0%ae/x',
    'a%00',
    '%u002e%u002e/x',
    'a%6cias',
  ],
  backslashes: ['..\\x', 'a\\b', '\\\\host\\share'],
  'a home folder': ['~', '~/x', '~root/x'],
  'an option': ['-rf', '--output=x'],
  'URLs and drives': ['file:///etc/passwd', 'file:a', 'https://example.com/', 'C:/x', '//host/share'],
  'what a reader cuts off': [
    ' a',
    'a ',
    '\u00a0a',
    '"/etc/passwd"',
    "'a'",
    '`a',
    'a./b',
    'a /b',
    'a.',
    '...',
    '.. /x',
    '../x. ',
  ],
  'look-alikes of separators and dots': [
    'a\u2215b',
    'a\u2044b',
    'a\uff0fb',
    'a\uff3cb',
    '\uff0e\uff0e/x',
    '\u2025/x',
    'a\u2100b',
    '\u2024',
  ],
  length: ['x'.repeat(256), 'ä'.repeat(128), `${'x'.repeat(200)}/`.repeat(21)],
}
for (const [what, paths] of Object.entries(unsafe)) {
  test(`a path is refused for ${what}`, () => {
    for (const path of paths) {
      assert.equal(find(path, { access: 'write' }), 'SCOPE_UNSAFE', JSON.stringify(path))
      if (!/^[-~"'` \u00a0/]|:/.test(path)) assert.equal(find(`${data}/${path}`), 'SCOPE_UNSAFE', JSON.stringify(path))
    }
  })
}

test('an empty path is unreadable', () => {
  assert.equal(find(''), 'SCOPE_UNREADABLE')
})

test('ordinary names pass, also where they look a little odd', () => {
  for (const name of [
    '50%.md',
    '100% true',
    'a~',
    '#1',
    '$id.tsx',
    '[slug].ts',
    'a:b',
    'note: x.md',
    '.git',
    '..a',
    'a..b',
    "it's",
    '日本語.md',
    'می\u200cخواهم',
    '❤️.md',
    'a\u00a0b',
    'ä'.repeat(127),
  ])
    assert.deepEqual(find(name, { access: 'write' }), [`${data}/${name}`, 'data'], name)
})

test('nothing is normalised: NFC and NFD are two names', () => {
  const [nfc, nfd] = ['café'.normalize('NFC'), 'café'.normalize('NFD')]
  assert.notDeepEqual(find(nfc), find(nfd))
  assert.deepEqual(find(nfd), [`${data}/${nfd}`, 'data'])
})
