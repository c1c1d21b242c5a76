import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Access } from '../tool/profile.ts'
import { locate, survey } from './path.ts'

/** A folder `root` with a file and a folder, and a secret outside it. */
function tree(context: TestContext) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-links-')))
  context.after(() => rmSync(top, { recursive: true, force: true }))
  const at = (path: string) => join(top, path)
  mkdirSync(at('root/folder'), { recursive: true })
  mkdirSync(at('outside/deep'), { recursive: true })
  writeFileSync(at('root/a.md'), 'text')
  writeFileSync(at('outside/secret'), 'secret')
  const guarded: string[] = []
  const find = (path: string, access: Access = 'read'): unknown => {
    const answer = locate(path, access, 'root', survey([{ name: 'root', path: at('root') }], guarded))
    return 'because' in answer ? answer.code : answer.value
  }
  const link = (from: string, to: string) => symlinkSync(to, at(from))
  return { at, find, link, guarded }
}

test('a link that leads out is refused, as the file and as a parent of a file to be made', (context) => {
  const { at, find, link } = tree(context)
  link('root/out', at('outside/secret'))
  link('root/door', '../outside')
  link('root/folder/chain', '../door')
  for (const access of ['read', 'write', 'list', 'delete', 'execute'] as const) {
    assert.equal(find('out', access), 'SCOPE_OUTSIDE')
    assert.equal(find('door', access), 'SCOPE_OUTSIDE')
    assert.equal(find('door/new/file', access), 'SCOPE_OUTSIDE')
    assert.equal(find('folder/chain/secret', access), 'SCOPE_OUTSIDE')
    assert.equal(find(at('root/door/deep/x'), access), 'SCOPE_OUTSIDE')
  }
})

test('a link that stays inside is the file that it leads to', (context) => {
  const { at, find, link } = tree(context)
  link('root/again', 'folder/../a.md')
  link('root/folder/up', '..')
  assert.equal(find('again'), at('root/a.md'))
  assert.equal(find('folder/up/a.md'), at('root/a.md'))
  assert.equal(find('folder/up/new', 'write'), at('root/new'))
})

test('a link outside that leads in is inside, and a root may itself be a link', (context) => {
  const { at, find, link } = tree(context)
  link('outside/way', '../root/folder')
  assert.equal(find(at('outside/way/new')), at('root/folder/new'))
  renameSync(at('root'), at('moved'))
  link('root', 'moved')
  assert.equal(find('a.md'), at('moved/a.md'))
  assert.equal(find(at('moved/a.md')), at('moved/a.md'))
})

test('a link that is swapped between two calls is seen by the second', (context) => {
  const { at, find, link } = tree(context)
  assert.equal(find('folder/new', 'write'), at('root/folder/new'))
  rmSync(at('root/folder'), { recursive: true })
  link('root/folder', '../outside')
  assert.equal(find('folder/new', 'write'), 'SCOPE_OUTSIDE')
})

test('a root whose place is taken by a link holds what is there now, and not what was there', (context) => {
  const { at, find, link } = tree(context)
  assert.equal(find(at('root/a.md')), at('root/a.md'))
  renameSync(at('root'), at('real'))
  link('root', 'outside')
  assert.equal(find(at('real/a.md')), 'SCOPE_OUTSIDE')
})

test('links without end, to nothing, and in too long a chain have no meaning', (context) => {
  const { at, find, link } = tree(context)
  link('root/self', 'self')
  link('root/ping', 'pong')
  link('root/pong', 'ping')
  link('root/nothing', 'not/there')
  link('root/far', at('outside/not-there'))
  for (let n = 0; n < 45; n++) link(`root/n${n}`, n === 0 ? 'a.md' : `n${n - 1}`)
  for (const name of ['self', 'ping', 'self/x', 'nothing', 'nothing/x', 'n44'])
    assert.equal(find(name, 'write'), 'SCOPE_UNSAFE', name)
  assert.equal(find('far', 'write'), 'SCOPE_OUTSIDE')
  assert.equal(find('n39'), at('root/a.md'))
})

test('up from a link is refused, since the kernel and a library that tidies the text come out at two places', (context) => {
  const { at, find, link } = tree(context)
  mkdirSync(at('root/folder/deep'))
  link('root/short', 'folder/deep')
  link('root/door', '../outside/deep')
  assert.equal(find('short/../a.md'), 'SCOPE_UNSAFE')
  assert.equal(find('short/x/../../a.md'), 'SCOPE_UNSAFE')
  assert.equal(find('door/../secret'), 'SCOPE_OUTSIDE')
  mkdirSync(at('root/folder/deep/x'))
  assert.equal(find('short/x/../y'), at('root/folder/deep/y'))
  assert.equal(find('folder/../a.md'), at('root/a.md'))
})

test('a name that is not UTF-8 behind a link is not taken for another', (context) => {
  const { at, find } = tree(context)
  symlinkSync(at('outside/secret'), Buffer.concat([Buffer.from(`${at('root')}/b`), Buffer.from([0xff])]))
  writeFileSync(at('root/b\ufffd'), 'bait')
  symlinkSync(Buffer.from([0x62, 0xff]), at('root/trap'))
  assert.equal(find('trap'), 'SCOPE_UNREADABLE')
})

test('a path through /proc means another thing to each process', (context) => {
  const { at, find, link } = tree(context)
  link('root/cwd', '/proc/self/cwd')
  assert.equal(find('cwd'), 'SCOPE_OUTSIDE')
  const everything = survey([{ name: 'all', path: '/' }], [])
  for (const path of ['/proc/self/cwd', '/dev/fd/0', at('root/cwd')]) {
    assert.deepEqual(locate(path, 'read', undefined, everything), {
      code: 'SCOPE_UNSAFE',
      because: 'it leads into /proc, where names mean another thing to each process',
    })
  }
})

test('a device, a socket or a pipe is no file to work with', (context) => {
  const { at, find } = tree(context)
  execFileSync('mkfifo', [at('root/pipe')])
  assert.equal(find('pipe'), 'SCOPE_UNSAFE')
  const everything = survey([{ name: 'all', path: '/' }], [])
  assert.equal((locate('/dev/null', 'read', undefined, everything) as { code: string }).code, 'SCOPE_UNSAFE')
})

test('a file with a second name is not written, and is marked for policies otherwise', (context) => {
  const { at, find } = tree(context)
  linkSync(at('outside/secret'), at('root/hard'))
  assert.equal(find('hard', 'write'), 'SCOPE_UNSAFE')
  for (const access of ['read', 'list', 'delete', 'execute'] as const) {
    const answer = locate('hard', access, 'root', survey([{ name: 'root', path: at('root') }], []))
    assert.deepEqual(answer, { value: at('root/hard'), within: ['root'], hardLinked: true })
  }
  assert.deepEqual(locate('a.md', 'read', 'root', survey([{ name: 'root', path: at('root') }], [])), {
    value: at('root/a.md'),
    within: ['root'],
  })
})

test("the gateway's own files are out of bounds inside a root too, by whatever name", (context) => {
  const { at, find, link, guarded } = tree(context)
  mkdirSync(at('root/.countersign/keys'), { recursive: true })
  writeFileSync(at('root/countersign.yaml'), 'servers: {}')
  guarded.push(at('root/.countersign'), at('root/countersign.yaml'), at('root/later/countersign.lock.yaml'))
  link('root/folder/settings', '../countersign.yaml')
  link('root/folder/home', '../.countersign')
  linkSync(at('root/countersign.yaml'), at('root/folder/second-name'))
  for (const path of [
    '.countersign',
    '.countersign/keys/new',
    'countersign.yaml',
    'folder/settings',
    'folder/home/ledger',
    'folder/second-name',
    'later/countersign.lock.yaml',
  ])
    for (const access of ['read', 'list', 'write', 'delete', 'execute'] as const)
      assert.equal(find(path, access), 'SCOPE_OUTSIDE', `${access} ${path}`)
  assert.equal(find('countersign.yaml.bak', 'write'), at('root/countersign.yaml.bak'))
})

test('own files are found behind a link in their own path', (context) => {
  const { at, find, link, guarded } = tree(context)
  mkdirSync(at('root/real-home'))
  link('home', 'root/real-home')
  guarded.push(at('home'), at('home/lock.yaml'))
  assert.equal(find('real-home/state', 'write'), 'SCOPE_OUTSIDE')
})

test('a folder that holds own files may be listed, and not read, written, deleted or run as a whole', (context) => {
  const { at, find, guarded } = tree(context)
  guarded.push(at('root/folder/.countersign'))
  for (const path of ['folder', '.']) {
    assert.equal(find(path, 'list'), path === '.' ? at('root') : at('root/folder'))
    for (const access of ['read', 'write', 'delete', 'execute'] as const)
      assert.equal(find(path, access), 'SCOPE_OUTSIDE')
  }
  assert.equal(find('folder/x', 'write'), at('root/folder/x'))
})
