import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as always, property, shuffledSubarray } from 'fast-check'
import type { ToolOffer } from '../model/toolbox.ts'
import { apiTree } from './tree.ts'

const offer = (server: string, name: string, description = 'Does it.'): ToolOffer => ({
  exported: `${server}__${name}`,
  description,
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, depth: { type: 'number' } },
    required: ['path'],
  },
  server,
})
const secret = ['aa', 'bb', 'cc'].flatMap((server) =>
  ['p', 'q', 'r'].map((name) => offer(server, `${server}${name}z`, `${server}${name}z does it.`)),
)
const all = [offer('files', 'read'), offer('files', 'write-all'), offer('git-hub', 'list'), offer('web', 'read')]

test('servers are folders and tools are files, read from the top', () => {
  const tree = apiTree(all)
  assert.match(tree.read('servers')!, /^servers\/files\/ {2}2 functions$/m)
  assert.equal(tree.read('servers/files'), 'servers/files/read.ts\nservers/files/write_all.ts')
  assert.match(
    tree.read('/servers/files/read.ts')!,
    /export function read\({path: string; depth\?: number}\): Promise<Result>/,
  )
  assert.equal(tree.read('servers/none'), undefined)
  assert.equal(tree.read('servers/files/../../etc/passwd'), undefined)
  assert.equal(tree.read('servers/__proto__'), undefined)
})

test('names that become the same stay apart, and each leads to its own tool', () => {
  const functions = apiTree([offer('s', 'a-b'), offer('s', 'a_b'), offer('s', '1x')]).servers.get('s')!
  assert.deepEqual([...functions.keys()], ['_1x', 'a_b', 'a_b_2'])
  assert.equal(new Set([...functions.values()].map(({ exported }) => exported)).size, 3)
})

test('a comment cannot be left by what a server says in it', () => {
  const text = apiTree([offer('s', 'a', 'Evil */ export const x = 1 /*')]).read('servers/s/a.ts')!
  assert.equal(text.split('*/').length, 2)
})

test('whatever is not offered is in no file, and the same offers in any order make the same bytes', () => {
  const everything = (tree: ReturnType<typeof apiTree>) =>
    [
      tree.read('servers'),
      ...[...tree.servers].flatMap(([server, functions]) => [
        tree.read(`servers/${server}`),
        ...[...functions.keys()].map((name) => tree.read(`servers/${server}/${name}.ts`)),
      ]),
    ].join('\n')
  always(
    property(shuffledSubarray(secret), (shown) => {
      const text = everything(apiTree(shown))
      // Every tool has a word of its own in its name and in what is said of it: neither may be anywhere, siblings or not.
      for (const { exported, description } of secret) {
        const hidden = !shown.some((one) => one.exported === exported)
        const word = description.split(' ')[0]!
        assert.equal(text.includes(word), !hidden, exported)
      }
      assert.equal(text, everything(apiTree(shown.toReversed())))
    }),
  )
})
