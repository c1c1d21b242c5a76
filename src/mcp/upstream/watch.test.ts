import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { connected, hold, soon } from '../../../test/fixtures/servers/reach.ts'
import { scripted, unknownMethod } from '../../../test/fixtures/servers/scripted.ts'

const capabilities = { tools: { listChanged: true }, prompts: { listChanged: false }, resources: {} }
const discovered = { result: { supportedVersions: ['2026-07-28'], capabilities, resultType: 'complete' } }

test('a subscription asks for what the server announces and is opened again when it ends, since a change may have been missed', async () => {
  const asked: unknown[] = []
  const again = Promise.withResolvers<void>()
  const reach = scripted(({ method, params }) => {
    if (method === 'server/discover') return discovered
    asked.push(params?.['notifications'])
    // It ends the first one in good order and keeps the second.
    if (asked.length > 1) again.resolve()
    return asked.length === 1 ? { result: { resultType: 'complete' } } : undefined
  })
  // Two pauses of a reconnection are longer than the rest between two changes, so that both changes are told.
  await using upstream = hold(reach, {}, { pauses: { firstMs: 300, mostMs: 300 } })
  let told = 0
  const twice = new Promise<void>((resolve) => {
    upstream.onChanged((kind) => {
      if (kind === 'tools' && ++told === 2) resolve()
    })
  })
  await Promise.all([again.promise, twice])
  assert.deepEqual(asked, [{ toolsListChanged: true }, { toolsListChanged: true }])
  assert.equal(upstream.state.kind, 'ready')
})

test('a server that knows no subscriptions is not asked again', async () => {
  let asked = 0
  const reach = scripted(({ method }) => {
    if (method === 'server/discover') return discovered
    if (method === 'subscriptions/listen') asked++
    return unknownMethod
  })
  await using upstream = await connected(reach, {}, { pauses: { firstMs: 1, mostMs: 1 } })
  for (const until = performance.now() + 50; performance.now() < until;) {
    await upstream.request('completion/complete', {}, soon())
    await setImmediate()
  }
  assert.equal(asked, 1)
})
