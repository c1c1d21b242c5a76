import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Changes } from './changes.ts'
import { Pauses } from './pauses.ts'

test('a change is told at once, a flood of them seldom, and the last one always', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const changes = new Changes()
  let tools = 0
  let prompts = 0
  const stop = changes.listen((kind) => void (kind === 'tools' ? tools++ : prompts++))
  for (let n = 0; n < 1000; n++) changes.changed('tools')
  changes.changed('prompts')
  assert.deepEqual([tools, prompts], [1, 1])
  mock.timers.tick(100)
  assert.deepEqual([tools, prompts], [2, 1])
  mock.timers.tick(10_000)
  assert.deepEqual([tools, prompts], [2, 1])
  stop()
  changes.changed('tools')
  assert.equal(tools, 2)
  changes.stop()
})

test('pauses grow to their limit, never to nothing, and start anew after something lasted', () => {
  const pauses = new Pauses({ firstMs: 100, mostMs: 1000 })
  const drawn = Array.from({ length: 50 }, () => pauses.after(0))
  drawn.forEach((pause, n) => {
    const whole = Math.min(1000, 100 * 2 ** n)
    assert.ok(pause >= whole / 2 && pause <= whole, `${n}: ${pause}`)
  })
  assert.ok(pauses.after(60_000) <= 100)
})
