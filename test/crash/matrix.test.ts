import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cells, nameOf, run } from './matrix.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const SAMPLE = Number(process.env['CELLS'] ?? 4)

/** Some cells, others each time; the whole is `npm run test:matrix`. */
let state = seed
const next = (below: number): number => (state = (state * 48_271 + 11) % 2_147_483_647) % below
const all = [...cells([true])]
const sample = Array.from({ length: SAMPLE }, () => all.splice(next(all.length), 1)[0]!)

for (const cell of sample)
  test(`F24 F25: ${nameOf(cell)}: one effect at most, and nobody needs to be asked (seed ${seed})`, async () => {
    const ended = await run(cell)
    assert.deepEqual(ended.wrong, [], JSON.stringify(ended))
  })
