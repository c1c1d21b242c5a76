import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { canary, Plot } from './fixture.ts'
import { LineClient, modernEnvelope } from './line-client.ts'

const main = new URL('main.ts', import.meta.url)

test(
  'a client of 2025-11-25 initializes, lists, searches, reads on, and is refused what lies outside',
  { timeout: 20_000 },
  async () => {
    using plot = new Plot()
    plot.write('week/one.md', 'begin\r\nlearned: 学习\r\nend\r\n')
    await using client = new LineClient(main, ['--root', plot.inside])
    const hello = await client.result('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'line-client', version: '1.0.0' },
    })
    assert.equal(hello['protocolVersion'], '2025-11-25')
    assert.match(String(hello['instructions']), /^[^.]*\.$/)
    client.notify('notifications/initialized')
    const { tools } = (await client.result('tools/list')) as { tools: Array<{ name: string; annotations: object }> }
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['search_notes', 'read_note'],
    )
    for (const { annotations } of tools) assert.partialDeepStrictEqual(annotations, { readOnlyHint: true })

    const found = await client.result('tools/call', {
      name: 'search_notes',
      arguments: { query: '学习', max_results: 5 },
    })
    const match = { path: 'week/one.md', offset: 1, text: 'learned: 学习' }
    assert.partialDeepStrictEqual(found['structuredContent'], { matches: [match], max_results: 5, more: false })
    const { path, offset } = match
    const page = await client.result('tools/call', { name: 'read_note', arguments: { path, offset, limit: 1 } })
    const rest = { path, offset, limit: 1, text: 'learned: 学习\r\n', total_lines: 3, more: true, next_offset: 2 }
    assert.partialDeepStrictEqual(page['structuredContent'], rest)

    const outside = await client.ask('tools/call', { name: 'read_note', arguments: { path: '../outside/secret.md' } })
    assert.match(JSON.stringify(outside), /"isError":true/)
    assert.ok(!JSON.stringify(outside).includes(canary))
    assert.equal(await client.leave(), 0)
    assert.deepEqual([client.foreign, client.stderr], [[], ''])
  },
)

test(
  'a client of 2026-07-28 discovers and calls, each request with its own envelope',
  { timeout: 20_000 },
  async () => {
    using plot = new Plot()
    plot.write('a.md', 'x\n')
    await using client = new LineClient(main, [`--root=${plot.inside}`])
    const _meta = modernEnvelope
    const found = await client.result('server/discover', { _meta })
    assert.ok((found['supportedVersions'] as string[]).includes('2026-07-28'))
    const called = await client.result('tools/call', { _meta, name: 'search_notes', arguments: { query: 'X' } })
    assert.equal(called['resultType'], 'complete')
    assert.partialDeepStrictEqual(called['structuredContent'], { matches: [{ path: 'a.md', offset: 0, text: 'x' }] })
    const rules = await client.result('resources/read', { _meta, uri: 'learning://rules' })
    assert.match(JSON.stringify(rules), /\\"folder\\": \\"inside\\"/)
    assert.ok(!JSON.stringify(rules).includes(plot.base))
    assert.equal(await client.leave(), 0)
    assert.deepEqual([client.foreign, client.stderr], [[], ''])
  },
)

const wrongArguments: ReadonlyArray<readonly [args: readonly string[], because: RegExp]> = [
  [[], /--root is missing/],
  [['--root'], /--root/],
  [['--root', '/nowhere/at/all'], /does not exist/],
  [['--root', fileURLToPath(main)], /is not a folder that can be opened/],
  [['--route', '.'], /--route/],
  [['--root', '.', 'more'], /more/],
]

test('wrong arguments end with code 2, a sentence on stderr and nothing on stdout', { timeout: 20_000 }, async () => {
  const outcomes = wrongArguments.map(async ([args, because]) => {
    await using client = new LineClient(main, args)
    assert.equal(await client.ended(), 2)
    assert.match(client.stderr, because)
    assert.match(client.stderr, /Usage: node servers\/learning-notes\/main\.ts --root DIR/)
    assert.deepEqual(client.foreign, [])
  })
  await Promise.all(outcomes)
})
