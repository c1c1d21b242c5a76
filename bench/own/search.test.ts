import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalogue, madeRequests, stretched } from './search-catalogue.ts'
import { compareSearch } from './search.ts'

test('a made-up catalogue is the same each time, and is stretched without a key twice', () => {
  assert.deepEqual(madeCatalogue(50), madeCatalogue(50))
  const keys = stretched(madeCatalogue(50), 170).map(({ key }) => key)
  assert.equal(new Set(keys).size, 170)
})

test('search is no slower than the faster of FTS5 and MiniSearch, and its index is made no slower than the latter', () => {
  // A machine that does other things at the same time may stop anyone in the middle: the better of two rounds counts.
  const best = new Map<string, { p95: number; buildMs: number; megabytes: number }>()
  for (let round = 0; round < 2; round++) {
    for (const { engine, p95, buildMs, megabytes } of compareSearch(madeCatalogue(2_800), madeRequests(20), [2_800])) {
      const known = best.get(engine)
      best.set(engine, {
        p95: Math.min(p95, known?.p95 ?? Infinity),
        buildMs: Math.min(buildMs, known?.buildMs ?? Infinity),
        megabytes: Math.max(megabytes, known?.megabytes ?? 0),
      })
    }
  }
  const [sqlite, mini, ours] = ['FTS5 of node:sqlite', 'minisearch, tuned', 'countersign'].map((name) =>
    best.get(name)!,
  )
  assert.ok(ours!.p95 <= Math.min(sqlite!.p95, mini!.p95), JSON.stringify([...best]))
  assert.ok(ours!.buildMs <= mini!.buildMs, JSON.stringify([...best]))
  assert.ok(ours!.megabytes < 100)
})
