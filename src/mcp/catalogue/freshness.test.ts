import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CatalogueSite } from '../../../test/fixtures/catalogue.ts'

const tool = (description: string): object => ({ name: 'look', description, inputSchema: { type: 'object' } })
const quiet = { announce: false, era: 'modern', prompts: 'deny', resources: 'deny' } as const

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !holds(); await sleep(5))
    if (Date.now() > end) throw new Error(`never: ${what}`)
}

test('a list that a server calls fresh for a moment is read again when the moment is over, long before our own pause', async () => {
  await using site = new CatalogueSite()
  site.add('a', { tools: [[tool('before')]], ttlMs: 50 }, quiet)
  const catalogue = await site.open({ pollMs: 600_000 })
  const [list] = catalogue.server('a')!.lists
  assert.equal(list!.ttlMs, 50)
  assert.equal(list!.items, 1)
  assert.ok(list!.readMs! <= 0 && list!.nextMs! <= 1_200, JSON.stringify(list))
  site.says('a', { tools: [[tool('after')]], ttlMs: 50 })
  await until('the change is seen', () => catalogue.entry('a/look')?.description === 'after')
})

test('a list that a server calls fresh is left alone for as long, but not for ever; one that is stale at once waits our pause', async () => {
  await using site = new CatalogueSite()
  site.add('calm', { tools: [[tool('x')]], ttlMs: 1_500 }, quiet)
  site.add('days', { tools: [[tool('x')]], ttlMs: 86_400_000 }, quiet)
  site.add('stale', { tools: [[tool('x')]], ttlMs: 0 }, quiet)
  const catalogue = await site.open({ pollMs: 200 })
  const next = (name: string): number => catalogue.server(name)!.lists[0]!.nextMs!
  assert.ok(next('calm') > 500 && next('calm') <= 1_650, `${next('calm')}`)
  assert.ok(next('days') > 3_000 && next('days') <= 6_600, `${next('days')}`)
  assert.ok(next('stale') <= 220, `${next('stale')}`)
})

test('a list that cannot be read is asked for ever less often', async () => {
  await using site = new CatalogueSite()
  const upstream = site.add('a', { tools: [[tool('x')]], ttlMs: 0 }, quiet)
  const catalogue = await site.open({ pollMs: 20 })
  site.says('a', { endless: true })
  await until('it backs off', () => (catalogue.server('a')!.lists[0]!.nextMs ?? 0) > 100)
  const [list] = catalogue.server('a')!.lists
  assert.match(list!.why!, /a cursor came twice/)
  assert.ok(list!.nextMs! <= 20 * 8 * 1.1)
  assert.equal(upstream.state.kind, 'ready')
})

test('T2: a list without end is cut: what came before is served, the reason is visible, and other servers do not wait', async () => {
  await using site = new CatalogueSite()
  site.add('loop', { tools: [[tool('x')]], endless: true }, quiet)
  site.add('fine', { tools: [[tool('y')]] }, quiet)
  const catalogue = await site.open({ pollMs: 50 })
  catalogue.approve([{ key: 'loop/look' }, { key: 'fine/look' }], 'ada', Date.now())
  const found = (exported: string): string => catalogue.find({ kind: 'tool', exported }).state
  assert.deepEqual([found('loop__look'), found('fine__look')], ['approved', 'approved'])
  assert.match(catalogue.server('loop')!.why!, /list of tools could not be read to its end: .*a cursor came twice/)
  assert.equal(catalogue.server('fine')!.why, undefined)
  const approved = catalogue.show('loop/look')!.tool!
  await catalogue.refresh(approved, AbortSignal.timeout(10_000))
  // It may stand on a page that cannot be reached, and so it is not called gone.
  site.says('loop', { tools: [[]], endless: true })
  await until('it is not seen any more', () => found('loop__look') === 'unavailable')
  assert.equal(site.events.filter(({ kind }) => kind === 'tool.drift').length, 0)
})
