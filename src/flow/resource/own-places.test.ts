import assert from 'node:assert/strict'
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type OwnPlaces, reachesOwn } from './own-places.ts'

function place(t: { after(end: () => void): void }) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-own-')))
  t.after(() => rmSync(folder, { recursive: true }))
  const home = join(folder, '.countersign')
  mkdirSync(join(folder, 'policy'))
  mkdirSync(home)
  for (const file of [
    'countersign.yaml',
    'countersign.lock.yaml',
    'policy/all.cedar',
    '.countersign/token',
    'notes.txt',
  ])
    writeFileSync(join(folder, file), 'x')
  symlinkSync(home, join(folder, 'innocent'))
  symlinkSync('innocent', join(folder, 'twice'))
  linkSync(join(folder, 'countersign.yaml'), join(folder, 'second-name'))
  const own: OwnPlaces = {
    paths: [home, join(folder, 'countersign.yaml'), join(folder, 'policy'), join(folder, 'countersign.lock.yaml')],
    ports: () => [7420],
    hosts: ['tools.example.com'],
    folders: new Map([['files', folder]]),
  }
  return { folder, home, judge: (given: object) => reachesOwn(given as never, 'files', own, []) }
}

test('no argument of any tool names the gateway’s own files, however it is spelt', (t) => {
  const { folder, home, judge } = place(t)
  for (const text of [
    home,
    `${home}/token`,
    `${folder}/./.countersign//token`,
    `${folder}//.countersign/token`,
    `${folder}/policy/../.countersign/token`,
    `${folder}/innocent/token`,
    `${folder}/twice/token`,
    `${folder}/second-name`,
    'second-name',
    'innocent',
    '.countersign/token',
    './.countersign/token',
    'innocent/token',
    'twice/new-file',
    'policy/new.cedar',
    'countersign.lock.yaml',
    './countersign.yaml',
    `file://${home}/token`,
    `file://localhost${home}/token`,
    `cat ${home}/token | base64`,
    `--output=${folder}/countersign.yaml`,
    home.toUpperCase(),
    `${folder}/%2ecountersign/token`,
    `${folder}/%252ecountersign/token`,
  ]) {
    const inside: object[] = [
      { path: text },
      { deep: [{ list: ['a', text] }] },
      ...(text.includes('/') ? [{ [text]: 1 }] : []),
    ]
    for (const given of inside) assert.notEqual(judge(given), undefined, JSON.stringify(given))
  }
})

test('nor its door, by any name or number of this machine', (t) => {
  const { judge } = place(t)
  for (const text of [
    'http://127.0.0.1:7420/mcp',
    'http://localhost:7420/mcp',
    'http://LOCALHOST:7420',
    'http://a.localhost:7420/',
    'http://[::1]:7420/mcp',
    'http://[::ffff:127.0.0.1]:7420/mcp',
    'http://0.0.0.0:7420/',
    'http://0:7420/',
    'http://2130706433:7420/',
    'http://0x7f.1:7420/',
    'http://127.9.9.9:7420/',
    'https://tools.example.com:7420/mcp',
    'ws://127.0.0.1:7420/',
    'curl -s http://127.0.0.1:7420/mcp -d x',
    '127.0.0.1:7420',
    'localhost:7420/mcp',
  ])
    assert.match(judge({ url: text }) ?? '', /door of this gateway/, text)
})

test('what belongs to others is not in the way', (t) => {
  const { folder, judge } = place(t)
  for (const text of [
    '',
    'hello, world',
    `${folder}/notes.txt`,
    `${folder}/.countersign-other/x`,
    `${folder}/policy-notes.txt`,
    folder,
    'notes.txt',
    'the policy is strict',
    '/',
    'http://127.0.0.1:8080/',
    'https://example.com:7420/',
    'https://example.com/mcp',
    '7420',
    'a/b/c',
    '../x',
    'x'.repeat(10_000),
  ])
    assert.equal(judge({ value: text }), undefined, text.slice(0, 80))
})

test('a call that says more than can be looked through is refused', (t) => {
  const { judge } = place(t)
  assert.notEqual(judge({ many: Array.from({ length: 5000 }, () => 'x') }), undefined)
})
