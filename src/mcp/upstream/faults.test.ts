import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import { connected, next, onHttp, onStdio, permitFor, sending, textOf } from '../../../test/fixtures/servers/reach.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-faults-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function effectsFile(): { readonly file: string; count(): number } {
  const file = join(folder, `effects-${files++}`)
  return { file, count: () => (readFileSync(file, 'utf8').match(/\n/g) ?? []).length }
}

const inShort = (outcome: WireOutcome): string => (outcome.kind === 'no-answer' ? outcome.why : textOf(outcome))
const quick = sending({ softDeadlineMs: 300, hardDeadlineMs: 400 })

/** What a call comes to when the server did the thing and then answered in this way. */
const overHttp: Record<string, string> = {
  ok: 'paid',
  reset: 'closed',
  half: 'closed',
  'empty-stream': 'closed',
  garbage: 'garbage',
  'no-result': 'garbage',
  'wrong-id': 'garbage',
  deep: 'garbage',
  html: 'garbage',
  'not-http': 'garbage',
  'status-500': 'status',
  'status-404': 'status',
  redirect: 'redirect',
  silent: 'deadline',
  twice: 'paid',
  refused: 'error -32020',
  // The last one, since it is the end of the server.
  exit: 'closed',
}

for (const era of ['legacy', 'modern']) {
  test(`F02 F05 F10 F11 F13: over ${era} HTTP only a complete answer with the right id is one, and nothing is sent twice`, async () => {
    const effects = effectsFile()
    await using fixture = await onHttp('dying', '--era', era, '--effects', effects.file)
    let posts = 0
    for (const [mode, expected] of Object.entries(overHttp)) {
      await using upstream = await connected(fixture.reach)
      const outcome = await upstream.send(permitFor('pay', { mode }), quick)
      assert.equal(inShort(outcome), expected, `${mode}: ${JSON.stringify(outcome)}`)
      assert.equal(effects.count(), ++posts, mode)
    }
  })
}

test('a result of a kind that we declared no capability for is no answer', async () => {
  await using fixture = await onHttp('dying', '--era', 'modern')
  await using upstream = await connected(fixture.reach)
  const outcome = await upstream.send(permitFor('pay', { mode: 'task' }), quick)
  assert.deepEqual(outcome, { kind: 'no-answer', why: 'garbage', detail: 'a result of the type "task"' })
})

const overStdio: Record<string, string> = {
  ok: 'paid',
  exit: 'crash',
  torn: 'crash',
  'last-words': 'paid',
  silent: 'deadline',
  half: 'deadline',
  'wrong-id': 'deadline',
  garbage: 'garbage',
  'no-result': 'garbage',
  deep: 'garbage',
  twice: 'paid',
  noise: 'paid',
  stderr: 'paid',
}

test('F10 F21 F22 F23: over stdio only a complete line with the right id is an answer, and nothing is sent twice', async () => {
  for (const [mode, expected] of Object.entries(overStdio)) {
    const effects = effectsFile()
    await using upstream = await connected(onStdio('dying', '--effects', effects.file))
    const outcome = await upstream.send(permitFor('pay', { mode }), quick)
    assert.equal(inShort(outcome), expected, `${mode}: ${JSON.stringify(outcome)}`)
    assert.equal(effects.count(), 1, mode)
  }
})

test('F04: a reply over HTTP that is cut at any byte is no answer, and the whole one is', async () => {
  await using fixture = await onHttp('dying')
  await using upstream = await connected(fixture.reach)
  const whole = Buffer.from(`{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"paid"}]}}`).length
  for (let at = 0; at <= whole + 2; at++) {
    const outcome = await upstream.send(permitFor('pay', { mode: 'cut-body', at }), quick)
    // Ids of two and three digits make the reply a byte or two longer than the one above.
    if (at < whole - 1) assert.equal(inShort(outcome), 'closed', `at byte ${at}`)
    else if (at === whole + 2) assert.equal(inShort(outcome), 'paid')
  }
})

test('F04: a stream of events that is cut before the end of the event is no answer', async () => {
  await using fixture = await onHttp('dying')
  await using upstream = await connected(fixture.reach)
  const answered: boolean[] = []
  for (let at = 0; at <= 115; at++) {
    const outcome = await upstream.send(permitFor('pay', { mode: 'cut-stream', at }), quick)
    assert.ok(['closed', 'paid'].includes(inShort(outcome)), `at byte ${at}: ${JSON.stringify(outcome)}`)
    answered.push(outcome.kind === 'reply')
  }
  // Once the event is whole it stays so: the change comes once, and not before all the bytes of event, data and blank line.
  const first = answered.indexOf(true)
  assert.ok(first >= 'event: message\ndata: \n\n'.length + 76, String(first))
  assert.ok(answered.slice(first).every(Boolean))
})

test('F10: a wrong id and a second answer are counted and answer nothing', async () => {
  await using upstream = await connected(onStdio('dying'))
  assert.equal(inShort(await upstream.send(permitFor('pay', { mode: 'wrong-id' }), quick)), 'deadline')
  assert.equal(inShort(await upstream.send(permitFor('pay', { mode: 'twice' }), quick)), 'paid')
  assert.equal(inShort(await upstream.send(permitFor('pay'), quick)), 'paid')
  assert.equal(upstream.diagnostics().strays.answers, 2)
})

test('F20: a line of 11 MB costs the call that it answers, and the calls beside it nothing', async () => {
  await using upstream = await connected(onStdio('huge', '--tools', '2'))
  let stall = 0
  let last = performance.now()
  const watch = setInterval(() => {
    stall = Math.max(stall, performance.now() - last)
    last = performance.now()
  }, 5)
  const [long, short, after] = await Promise.all([
    upstream.send(permitFor('line', { bytes: 11_000_000 }), sending()),
    upstream.send(permitFor('tool_1'), sending()),
    upstream.send(permitFor('line', { bytes: 5 }), sending()),
  ])
  clearInterval(watch)
  assert.equal(inShort(long), 'oversize')
  assert.equal(inShort(short), 'tool_1')
  assert.equal(inShort(after), 'xxxxx')
  assert.equal(upstream.diagnostics().strays.oversize, 1)
  assert.equal(upstream.state.kind, 'ready')
  assert.ok(stall < 200, `${stall} ms`)
})

test('F20: the same over HTTP, with and without the length in front', async () => {
  for (const answers of ['json', 'sse']) {
    await using fixture = await onHttp('huge', '--tools', '2', '--answers', answers)
    await using upstream = await connected(fixture.reach)
    assert.equal(inShort(await upstream.send(permitFor('line', { bytes: 11_000_000 }), sending())), 'oversize')
    assert.equal(inShort(await upstream.send(permitFor('line', { bytes: 5 }), sending())), 'xxxxx')
  }
})

test('F21: log lines on standard output are counted and passed over', async () => {
  await using upstream = await connected(onStdio('dying'))
  assert.equal(inShort(await upstream.send(permitFor('pay', { mode: 'noise' }), quick)), 'paid')
  assert.equal(upstream.diagnostics().strays.noise, 3)
})

test('F22: a server that ends in mid-call is started again, and the call is not sent to the fresh one', async () => {
  const effects = effectsFile()
  await using upstream = await connected(onStdio('dying', '--effects', effects.file))
  const again = next(upstream, 'ready')
  const [lost, beside] = await Promise.all([
    upstream.send(permitFor('pay', { mode: 'silent' }), sending()),
    upstream.send(permitFor('pay', { mode: 'exit' }), sending()),
  ])
  assert.deepEqual(lost, { kind: 'no-answer', why: 'crash', detail: 'the server ended with exit code 0' })
  assert.equal(inShort(beside), 'crash')
  await again
  assert.equal(effects.count(), 2)
  assert.equal(inShort(await upstream.send(permitFor('pay'), sending())), 'paid')
  assert.equal(effects.count(), 3)
})

test('F23: what a server writes to standard error is drained, and its last part kept', async () => {
  await using upstream = await connected(onStdio('dying'))
  assert.equal(inShort(await upstream.send(permitFor('pay', { mode: 'stderr' }), sending())), 'paid')
  await upstream.close()
  const { errorOutput } = upstream.diagnostics()
  assert.equal(Buffer.byteLength(errorOutput), 64 * 1024)
  assert.ok(errorOutput.trimEnd().split('\n').at(-1)?.startsWith('255 '))
})
