import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempDisposableSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { homeFolder, makeHome, openHome, readToken } from './home.ts'

const temporary = () => mkdtempDisposableSync(join(tmpdir(), 'countersign-home-'))
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('the home is named by the flag, then by the environment, then by the configuration', () => {
  assert.equal(homeFolder('/a', '/c/countersign.yaml', { COUNTERSIGN_HOME: '/b' }), '/a')
  assert.equal(homeFolder(undefined, '/c/countersign.yaml', { COUNTERSIGN_HOME: '/b' }), '/b')
  assert.equal(homeFolder(undefined, '/c/countersign.yaml', { COUNTERSIGN_HOME: '' }), '/c/.countersign')
  assert.equal(homeFolder(undefined, undefined, {}), undefined)
})

test('a home is made private, with a token that is made once', () => {
  using parent = temporary()
  const folder = join(parent.path, 'home')
  const home = makeHome(folder)
  assert.equal(modeOf(folder), '700')
  assert.equal(modeOf(home.tokenFile), '600')
  const token = readToken(home).reveal()
  assert.equal(Buffer.from(token, 'base64url').length, 32)
  makeHome(folder)
  assert.equal(readToken(home).reveal(), token)
})

test('a home that others may look into is refused, with the command that mends it', () => {
  using parent = temporary()
  const folder = join(parent.path, 'home')
  mkdirSync(folder)
  for (const mode of [0o755, 0o710, 0o701, 0o770]) {
    chmodSync(folder, mode)
    assert.throws(() => makeHome(folder), { code: 'HOME_UNSAFE', hint: `chmod 700 ${folder}` })
  }
  chmodSync(folder, 0o700)
  makeHome(folder)
})

test('a token that others may read, or that is a link, or that is empty, is refused', () => {
  using parent = temporary()
  const home = makeHome(join(parent.path, 'home'))
  chmodSync(home.tokenFile, 0o640)
  assert.throws(() => readToken(home), { code: 'HOME_UNSAFE' })
  assert.throws(() => makeHome(home.folder), { code: 'HOME_UNSAFE' })
  chmodSync(home.tokenFile, 0o600)
  writeFileSync(home.tokenFile, '\n')
  assert.throws(() => readToken(home), { code: 'HOME_UNSAFE', message: /no token/ })

  const other = makeHome(join(parent.path, 'other'))
  const linked = join(parent.path, 'linked')
  mkdirSync(linked, { mode: 0o700 })
  symlinkSync(other.tokenFile, join(linked, 'token'))
  assert.throws(() => makeHome(linked), { code: 'HOME_UNSAFE', message: /not a file/ })
})

test('a home that is missing or a link to a folder is refused', () => {
  using parent = temporary()
  assert.throws(() => openHome(join(parent.path, 'nowhere')), { code: 'HOME_MISSING' })
  symlinkSync(parent.path, join(parent.path, 'link'))
  assert.throws(() => openHome(join(parent.path, 'link')), { code: 'HOME_UNSAFE' })
})

test(
  'a home where no folder can be made is a fault at once',
  { skip: !existsSync('/proc/self') && 'there is no /proc' },
  () => {
    assert.throws(() => makeHome('/proc/nope/deeper'), /cannot be made/)
  },
)
