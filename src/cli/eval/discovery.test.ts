import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { workshop } from '../cli.fixture.ts'
import type { DiscoveryReport } from './discovery.ts'

const shared = fileURLToPath(new URL('../../../../shared/discovery', import.meta.url))
const elsewhere = process.env['COUNTERSIGN_DISCOVERY'] ?? shared
const missing = existsSync(join(elsewhere, 'small', 'tools.jsonl'))
  ? false
  : 'the sets are not here; $COUNTERSIGN_DISCOVERY names their folder'

const tools = [
  {
    server: 'files',
    name: 'read_file',
    description: 'Read a file',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
  { server: 'files', name: 'delete_file', description: 'Delete a file', inputSchema: { type: 'object' } },
  { server: 'mail', name: 'send', inputSchema: { type: 'object' } },
]
const queries = [
  { id: 'a', query: 'read the file a.txt', gold: [{ server: 'files', name: 'read_file' }], mode: 'any', source: 'one' },
  { id: 'b', query: 'zzz', gold: [{ server: 'files', name: 'read_file' }], mode: 'any', source: 'one' },
  {
    id: 'c',
    query: 'read the file and send mail',
    groups: [[{ server: 'files', name: 'read_file' }], [{ server: 'gone', name: 'x' }]],
    mode: 'all',
    source: 'many',
  },
  { id: 'd', query: 'Thank you, good night!', gold: [], mode: 'none', source: 'quiet' },
]
const jsonl = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

test('eval discovery counts hits, shares of groups and abstention as they are', async () => {
  using shop = workshop()
  writeFileSync(join(shop.folder, 't.jsonl'), jsonl(tools))
  writeFileSync(join(shop.folder, 'q.jsonl'), jsonl(queries))
  const { code, stdout, stderr } = await shop.run([
    'eval',
    'discovery',
    '--tools',
    't.jsonl',
    '--queries',
    'q.jsonl',
    '--json',
  ])
  assert.equal(code, 0, stderr)
  const report = JSON.parse(stdout) as DiscoveryReport
  assert.equal(report.queries, 3)
  assert.equal(report.tools, 3)
  assert.equal(report.goldOutside, 1)
  assert.equal(report.byRegister['one']?.recallAt['1'], 0.5)
  assert.equal(report.byRegister['one']?.mrr, 0.5)
  assert.equal(report.byRegister['many']?.recallAt['10'], 0.5)
  assert.ok(report.latencyMs.p50 <= report.latencyMs.p95)
  assert.deepEqual(report.abstention?.noToolRequests, 1)
  assert.equal(report.abstention?.atFloor.shown, 0)
  const [low, high] = report.byRegister['one'].recallInterval['1']
  assert.ok(low < 0.5 && 0.5 < high)
})

test('a line that cannot be used is named', async () => {
  using shop = workshop()
  writeFileSync(join(shop.folder, 't.jsonl'), `${JSON.stringify(tools[0])}\n{"server":"files"}\n`)
  const { code, stderr } = await shop.run(['eval', 'discovery', '--tools', 't.jsonl', '--tokens'])
  assert.equal(code, 2)
  assert.match(stderr, /t\.jsonl:2: expected `server` and `name`/)
})

// The floors are what the best of six other engines reached on the same sets, or better.
const floors = {
  small: { 'own-plain': [0.98, 0.95], 'own-hard': [0.38, 0.31] },
  replica121: { replica: [0.82, 0.78] },
  large: { 'own-plain': [0.95, 0.91], 'own-hard': [0.48, 0.38] },
} as const

for (const [set, registers] of Object.entries(floors)) {
  test(`on ${set} the default engine finds at least what the best baseline finds`, { skip: missing }, async () => {
    using shop = workshop()
    const file = (name: string) => join(elsewhere, set, `${name}.jsonl`)
    const none = join(elsewhere, 'none', 'queries.jsonl')
    const args = ['--tools', file('tools'), '--queries', file('queries'), '--none', none, '--tokens', '--json']
    const { code, stdout, stderr } = await shop.run(['eval', 'discovery', ...args])
    assert.equal(code, 0, stderr)
    const report = JSON.parse(stdout) as DiscoveryReport
    for (const [register, [recall, mrr]] of Object.entries(registers)) {
      const of = report.byRegister[register]!
      assert.ok(of.recallAt['3'] >= recall, `${register}: ${of.recallAt['3']}`)
      assert.ok(of.mrr >= mrr, `${register}: ${of.mrr}`)
    }
    if (set === 'replica121') return
    assert.ok(report.abstention!.passAt95 <= 0.3, `${report.abstention!.passAt95} of the no-tool requests pass`)
    assert.ok(report.tokens!.saved3 >= (set === 'small' ? 0.996 : 0.9995), `${report.tokens!.saved3}`)
    assert.ok(report.tokens!.eighty!.saved >= 0.98)
  })
}
