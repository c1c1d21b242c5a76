import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import { discovered, scripted } from '../../../test/fixtures/servers/scripted.ts'
import type { UpstreamSpec } from './upstream.ts'
import { connected, onHttp, onStdio, permitFor, sending, soon, textOf } from '../../../test/fixtures/servers/reach.ts'

const deadline = {
  kind: 'no-answer',
  why: 'deadline',
  detail: 'no answer in time; it is still listened for',
  listening: true,
}

/** Runs a case on a stdio server and on an HTTP server of both kinds of answers. */
async function everywhere(
  run: (reach: UpstreamSpec['reach'], where: string) => Promise<void>,
  ...args: string[]
): Promise<void> {
  await run(onStdio('honest', ...args), 'stdio')
  for (const answers of ['json', 'sse']) {
    await using fixture = await onHttp('honest', '--era', 'modern', '--answers', answers, ...args)
    await run(fixture.reach, `HTTP with ${answers}`)
  }
}
const over = { kind: 'no-answer', why: 'deadline', detail: 'no answer before the hard deadline' }

test('F15: the caller has an outcome at the soft deadline, and the late answer is handed in once', () =>
  everywhere(async (reach, where) => {
    await using upstream = await connected(reach)
    const late: WireOutcome[] = []
    const came = Promise.withResolvers<void>()
    const onLate = (outcome: WireOutcome): void => {
      late.push(outcome)
      came.resolve()
    }
    const outcome = await upstream.send(permitFor('slow', { ms: 150 }), sending({ softDeadlineMs: 50, onLate }))
    assert.deepEqual(outcome, deadline, where)
    assert.deepEqual(late, [])
    await came.promise
    assert.deepEqual(late.map(textOf), ['slept'], where)
  }))

test('F17: progress without end does not move a deadline, and at the hard one it is handed in that there was no answer', () =>
  everywhere(
    async (reach, where) => {
      if (where === 'HTTP with json') return
      await using upstream = await connected(reach)
      let progressed = 0
      const late: WireOutcome[] = []
      const more = {
        softDeadlineMs: 200,
        hardDeadlineMs: 300,
        onProgress: () => void progressed++,
        onLate: (outcome: WireOutcome) => void late.push(outcome),
      }
      assert.deepEqual(await upstream.send(permitFor('slow', { ms: 800 }), sending(more)), deadline, where)
      const seen = progressed
      assert.ok(seen > 0)
      // A call that ends after the slow one shows that its answer has come and was not listened to.
      assert.equal(textOf(await upstream.send(permitFor('slow', { ms: 900 }), sending())), 'slept')
      assert.deepEqual(late, [over], where)
      assert.ok(progressed < 40, `${progressed}`)
    },
    '--progress',
    '40',
  ))

test('a hard deadline that is not after the soft one ends both', async () => {
  await using upstream = await connected(onStdio('honest'))
  const outcome = await upstream.send(
    permitFor('slow', { ms: 100 }),
    sending({ softDeadlineMs: 500, hardDeadlineMs: 20 }),
  )
  assert.deepEqual(outcome, over)
  assert.equal(textOf(await upstream.send(permitFor('slow', { ms: 150 }), sending())), 'slept')
  assert.equal(upstream.diagnostics().strays.answers, 1)
})

test('a read whose caller leaves ends at once; one whose caller left before is not sent', () =>
  everywhere(async (reach, where) => {
    await using upstream = await connected(reach)
    const leaving = new AbortController()
    const call = upstream.send(permitFor('slow', { ms: 5000 }, { lane: 'read' }), sending({ signal: leaving.signal }))
    await upstream.request('tools/list', {}, soon())
    leaving.abort()
    const outcome = await call
    assert.ok(outcome.kind === 'no-answer' && outcome.why === 'caller-left', where)
    const unsent = await upstream.send(
      permitFor('echo', { text: 'x' }, { lane: 'read' }),
      sending({ signal: leaving.signal }),
    )
    assert.equal(unsent.kind, 'not-sent')
  }))

test('a call that waits for a free connection until its deadline was not sent, and never is', async () => {
  await using fixture = await onHttp('honest', '--era', 'modern')
  await using upstream = await connected(fixture.reach, {}, { connections: 1 })
  // Two connections, one of them being for the stream of changes.
  const busy = [300, 300].map((ms) => upstream.send(permitFor('slow', { ms }), sending()))
  const waiting = await upstream.send(permitFor('slow', { ms: 1 }), sending({ softDeadlineMs: 30 }))
  assert.equal(waiting.kind, 'not-sent')
  await Promise.all(busy)
})

test('our own requests end with their signal, and are never governed calls', async () => {
  const reach = scripted(({ method }) => (method === 'server/discover' ? discovered : undefined))
  await using upstream = await connected(reach)
  const outcome = await upstream.request('completion/complete', {}, AbortSignal.timeout(30))
  assert.deepEqual(outcome, { kind: 'no-answer', why: 'deadline', detail: 'no answer in time' })
  for (const method of ['tools/call', 'prompts/get', 'resources/read']) {
    await assert.rejects(upstream.request(method, {}, soon()), TypeError)
  }
})
