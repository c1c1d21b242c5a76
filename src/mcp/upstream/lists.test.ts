import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import type { JsonObject } from '../../words/json.ts'
import { connected, onStdio, soon } from '../../../test/fixtures/servers/reach.ts'
import { discovered, scripted } from '../../../test/fixtures/servers/scripted.ts'
import { readPages, type ListFault, type ListLimits } from './lists.ts'

const fault = (reason: string): object => ({ name: 'ListFault', reason })

test('a list of 1,000 tools is read to its last page', async () => {
  await using upstream = await connected(onStdio('huge', '--page', '37'))
  const tools = await upstream.list('tools/list', soon())
  assert.equal(tools.length, 1000)
  assert.equal(new Set(tools.map((tool) => tool['name'])).size, 1000)
})

test('an empty cursor is a cursor', async () => {
  await using upstream = await connected(onStdio('huge', '--cursor', 'empty'))
  assert.equal((await upstream.list('tools/list', soon())).length, 4)
})

test('a cursor that comes twice, and pages without end, are faults', async () => {
  for (const [cursor, reason] of [
    ['same', 'repeated-cursor'],
    ['endless', 'no-progress'],
  ] as const) {
    await using upstream = await connected(onStdio('huge', '--tools', '5', '--cursor', cursor))
    await assert.rejects(upstream.list('tools/list', soon()), fault(reason))
    assert.equal(upstream.state.kind, 'ready')
  }
})

test('what was not negotiated is not asked for', async () => {
  const asked: string[] = []
  const reach = scripted(({ method }) => {
    asked.push(method)
    return discovered
  })
  await using upstream = await connected(reach)
  assert.deepEqual(await upstream.list('prompts/list', soon()), [])
  assert.deepEqual(asked, ['server/discover'])
})

const limits: ListLimits = { pages: 3, items: 5, bytes: 400 }
const read = (pages: readonly JsonObject[]): Promise<readonly JsonObject[]> => {
  let n = 0
  return readPages('tools/list', () => Promise.resolve(page(pages[n++]!)), limits)
}
const page = (value: JsonObject): WireOutcome => ({ kind: 'reply', value, bytes: Buffer.from(JSON.stringify(value)) })
const tools = (count: number): JsonObject[] => Array.from({ length: count }, (_, n) => ({ name: `t${n}` }))

test('a list that passes a limit is cut there, and what came before is at hand', async () => {
  await assert.rejects(
    read([{ tools: tools(3), nextCursor: 'a' }, { tools: tools(3) }]),
    (it: ListFault) => it.before?.length === 5,
  )
  const idle = Array.from({ length: 25 }, (_, n) => page({ tools: tools(1), nextCursor: `${n}` }))
  await assert.rejects(
    readPages('tools/list', () => Promise.resolve(idle.shift()!)),
    fault('no-progress'),
  )
  await assert.rejects(read([{ tools: tools(3), nextCursor: 'a' }, { tools: tools(3) }]), fault('too-many-items'))
  await assert.rejects(read([{ tools: [{ name: 'x'.repeat(500) }] }]), fault('too-many-bytes'))
  const endless = ['a', 'b', 'c', 'd'].map((nextCursor) => ({ tools: [], nextCursor }))
  await assert.rejects(read(endless), fault('too-many-pages'))
  assert.equal(
    (await read([{ tools: tools(3), nextCursor: 'a' }, { tools: tools(2), nextCursor: 'b' }, { tools: [] }])).length,
    5,
  )
})

test('an answer that is no list, or no answer, is a fault; an item that is no object is left out', async () => {
  await assert.rejects(read([{ tools: {} }]), fault('no-answer'))
  await assert.rejects(read([{ tools: [], nextCursor: 5 }]), fault('no-answer'))
  assert.deepEqual(await read([{ tools: ['x', null, { name: 'a' }], nextCursor: null }]), [{ name: 'a' }])
  const outcomes: [WireOutcome, string][] = [
    [{ kind: 'error', code: -32603, message: 'x' }, 'error'],
    [{ kind: 'not-sent', why: 'x' }, 'down'],
    [{ kind: 'no-answer', why: 'deadline', detail: 'x' }, 'no-answer'],
  ]
  for (const [outcome, reason] of outcomes) {
    await assert.rejects(
      readPages('tools/list', () => Promise.resolve(outcome)),
      fault(reason),
    )
  }
})
