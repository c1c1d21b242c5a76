import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Client, InMemoryTransport } from '@modelcontextprotocol/client'

import { canary, Plot } from './fixture.ts'
import { problems } from './problem.ts'
import { standardLimits } from './rules.ts'
import { createLearningNotesServer, openRoot } from './server.ts'
import { byName, type Whereabouts } from './whereabouts.ts'

/** A client in the same process; it checks every result against the output schema that the server published. */
async function connected(plot: Plot, whereabouts?: Whereabouts, report?: (fault: Error) => void) {
  const server = createLearningNotesServer(await openRoot(plot.inside, whereabouts), standardLimits, report)
  const client = new Client({ name: 'test', version: '1.0.0' })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await Promise.all([client.connect(here), server.connect(there)])
  await client.listTools()
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args })
    const [block] = result.content
    return { ...result, text: block?.type === 'text' ? block.text : '' }
  }
  return { client, call, [Symbol.asyncDispose]: () => client.close() }
}

const wrong: ReadonlyArray<readonly [tool: string, args: Record<string, unknown>, because: RegExp]> = [
  ['search_notes', { query: 'x', max_results: 51 }, /max_results: is above the limit of 50: ask for 1 to 50/],
  ['search_notes', { query: 'x', max_results: 1e9 }, /limit of 50/],
  ['search_notes', { query: 'x', max_results: 0 }, /max_results: is too small/],
  ['search_notes', { query: 'x', max_results: 2.5 }, /max_results/],
  ['search_notes', { query: 'x', max_results: '5' }, /max_results.*number/],
  ['search_notes', { query: '' }, /query: holds nothing/],
  ['search_notes', { query: ' \t' }, /query: holds nothing/],
  ['search_notes', { query: 'a\nb' }, /query: must be one line/],
  ['search_notes', { query: '学'.repeat(201) }, /query: may have at most 200 characters/],
  ['search_notes', { max_results: 5 }, /query/],
  ['search_notes', { query: 'x', folder: '/' }, /folder/],
  ['read_note', { path: 'a.md', limit: 1_001 }, /limit: is above the limit of 1000: ask for 1 to 1000 lines/],
  ['read_note', { path: 'a.md', limit: 0 }, /limit: is too small/],
  ['read_note', { path: 'a.md', offset: -1 }, /offset/],
  ['read_note', { path: ['a.md'] }, /path.*string/],
  ['read_note', {}, /path/],
]

test('arguments that do not fit are argument_invalid, with the argument and its limit named', async () => {
  using plot = new Plot()
  plot.write('a.md', 'x\n')
  await using server = await connected(plot)
  for (const [tool, args, because] of wrong) {
    const result = await server.call(tool, args)
    assert.equal(result.isError, true, JSON.stringify(args))
    assert.match(result.text, /^argument_invalid: /)
    assert.match(result.text, because)
    assert.equal(result.structuredContent, undefined)
  }
})

test('the published schemas say the same limits as the checks, so that a client can know before it asks', async () => {
  using plot = new Plot()
  await using server = await connected(plot)
  const { tools } = await server.client.listTools()
  const [search, read] = tools.map(({ inputSchema }) => inputSchema)
  assert.partialDeepStrictEqual(search, {
    additionalProperties: false,
    required: ['query'],
    properties: {
      query: { type: 'string', maxLength: 200 },
      max_results: { type: 'integer', minimum: 1, maximum: 50 },
    },
  })
  assert.partialDeepStrictEqual(read, {
    additionalProperties: false,
    required: ['path'],
    properties: { offset: { type: 'integer', minimum: 0 }, limit: { type: 'integer', minimum: 1, maximum: 1_000 } },
  })
  // 200 characters of two UTF-16 units each: as many as the schema promises.
  assert.notEqual((await server.call('search_notes', { query: '👩'.repeat(200) })).isError, true)
})

test('a result is the same as structured content and as text', async () => {
  using plot = new Plot()
  plot.write('a.md', 'one\r\ntwo\r\n')
  await using server = await connected(plot)
  const page = await server.call('read_note', { path: 'a.md', limit: 1 })
  const expected = {
    path: 'a.md',
    offset: 0,
    limit: 1,
    text: 'one\r\n',
    returned_lines: 1,
    total_lines: 2,
    stopped_by: 'limit',
    more: true,
    next_offset: 1,
  }
  assert.deepEqual(page.structuredContent, expected)
  assert.deepEqual(JSON.parse(page.text), expected)
  const last = await server.call('read_note', { path: 'a.md', offset: 1 })
  assert.partialDeepStrictEqual(last.structuredContent, { offset: 1, limit: 200, more: false })
  assert.equal((last.structuredContent as object).hasOwnProperty('next_offset'), false)
})

test('a problem is an error result of its code and sentence', async () => {
  using plot = new Plot()
  await using server = await connected(plot)
  const result = await server.call('read_note', { path: 'none.md' })
  assert.deepEqual([result.isError, result.text], [true, 'not_found: There is no note at this path.'])
})

test('learning://rules shows the folder by its name only, with the limits and every error code', async () => {
  using plot = new Plot()
  await using server = await connected(plot)
  const { contents } = await server.client.readResource({ uri: 'learning://rules' })
  const [content] = contents
  const text = content && 'text' in content ? content.text : ''
  assert.ok(!text.includes(plot.base))
  const rules: unknown = JSON.parse(text)
  assert.partialDeepStrictEqual(rules, {
    folder: 'inside',
    file_types: ['.md'],
    limits: { max_results: 50 },
    errors: problems,
  })
})

test('a fault nobody foresaw reaches the operator whole, and the caller as read_failed without a word of it', async () => {
  using plot = new Plot()
  plot.write('a.md', 'x\n')
  let broken = false
  const reported: Error[] = []
  const whereabouts: Whereabouts = {
    ...byName,
    of: (handle, path) => (broken ? Promise.reject(new Error(`${canary} at ${path}`)) : byName.of(handle, path)),
  }
  await using server = await connected(plot, whereabouts, (fault) => reported.push(fault))
  broken = true
  for (const [tool, args] of [
    ['read_note', { path: 'a.md' }],
    ['search_notes', { query: 'x' }],
  ] as const) {
    const result = await server.call(tool, args)
    assert.deepEqual([result.isError, result.text], [true, `read_failed: ${problems.read_failed}`])
  }
  assert.equal(reported.length, 2)
  assert.match(reported[0]?.message ?? '', new RegExp(canary))
})

test('a call that the client cancels stops the search that runs for it', async () => {
  using plot = new Plot()
  for (let number = 0; number < 200; number += 1) plot.write(`${number}.md`, 'nothing\n')
  const cancelling = new AbortController()
  let opened = 0
  const whereabouts: Whereabouts = {
    ...byName,
    of: (handle, path) => {
      opened += 1
      if (opened === 10) cancelling.abort()
      return byName.of(handle, path)
    },
  }
  await using server = await connected(plot, whereabouts)
  const args = { name: 'search_notes', arguments: { query: 'x' } }
  await assert.rejects(server.client.callTool(args, { signal: cancelling.signal }))
  // A second search takes at least as long as what would be left of the first one.
  assert.notEqual((await server.client.callTool(args)).isError, true)
  assert.ok(opened < 300, `${opened} files were opened`)
})
