import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digits } from '../gateway/control/control.fixture.ts'
import { workshopWith } from './cli.fixture.ts'
import { exits } from './exits.ts'

test('a policy folder that was changed since the start is said to be newer than what the gateway goes by', async () => {
  const report = { ok: true, version: 'b'.repeat(64), policies: 2, problems: [] }
  const error = { severity: 'error' as const, message: 'unexpected end' }
  for (const now of [report, { ok: false, version: '', policies: 0, problems: [error] }]) {
    await using shop = await workshopWith({ checkPolicy: () => Promise.resolve(now) })
    for (const words of [['policy', 'check'], ['status'], ['doctor']]) {
      const { stdout } = await shop.run(words)
      assert.match(
        stdout,
        /the gateway runs an older policy.*\s.*`countersign stop`, then start it again/,
        words.join(' '),
      )
    }
  }
})

test('the same policies are not called older', async () => {
  await using shop = await workshopWith({
    checkPolicy: () => Promise.resolve({ ok: true, version: digits, policies: 1, problems: [] }),
  })
  for (const words of [['policy', 'check'], ['status'], ['doctor']])
    assert.doesNotMatch((await shop.run(words)).stdout, /older policy/)
  assert.equal((await shop.run(['policy', 'check'])).code, exits.done)
})
