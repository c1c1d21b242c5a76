import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { untilIdle } from './idle.ts'

test('a gateway is idle when nothing ran and nothing began for the whole time', async () => {
  assert.equal(await untilIdle(() => ({ running: 0, begun: 7 }), 40, AbortSignal.timeout(5_000)), true)
})

test('something that runs, or that came and went between two looks, keeps it awake', async () => {
  let begun = 0
  const asked = new AbortController()
  const busy = untilIdle(() => ({ running: 1, begun: 0 }), 20, asked.signal)
  const visited = untilIdle(() => ({ running: 0, begun: begun++ }), 20, asked.signal)
  await pause(120)
  asked.abort()
  assert.deepEqual([await busy, await visited], [false, false])
})
