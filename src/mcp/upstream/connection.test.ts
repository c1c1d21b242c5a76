import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AuthorisedAction } from '../../flow/action/index.ts'
import type { JsonObject } from '../../words/json.ts'
import { initialized, scripted, unknownMethod } from '../../../test/fixtures/servers/scripted.ts'
import { IDEMPOTENCY_KEY } from '../wire/envelope.ts'
import type { PairedEnd } from './memory.ts'
import type { UpstreamSpec } from './upstream.ts'
import {
  connected,
  hold,
  negotiatedBy,
  next,
  onHttp,
  onStdio,
  permitFor,
  sending,
  soon,
  textOf,
} from '../../../test/fixtures/servers/reach.ts'

const eras = { legacy: '2025-11-25', modern: '2026-07-28', dual: '2026-07-28' } as const

async function worksOn(reach: UpstreamSpec['reach'], revision: string): Promise<void> {
  await using upstream = await connected(reach)
  const negotiated = negotiatedBy(upstream)
  assert.equal(negotiated.revision, revision)
  assert.deepEqual(negotiated.serverInfo, { name: 'honest', version: '1.0.0' })
  assert.equal(negotiated.instructions, 'Notes are kept as long as the server runs.')
  assert.deepEqual(negotiated.capabilities['tools'], { listChanged: true })

  const tools = await upstream.list('tools/list', soon())
  assert.deepEqual(
    tools.slice(0, 2).map((tool) => tool['name']),
    ['echo', 'add'],
  )
  assert.equal((await upstream.list('prompts/list', soon())).length, 1)
  assert.equal((await upstream.list('resources/templates/list', soon())).length, 1)

  assert.equal(textOf(await upstream.send(permitFor('echo', { text: 'Grüße' }), sending())), 'Grüße')
  const greeting = await upstream.send(permitFor('greet', { who: 'Ann' }, { kind: 'prompt' }), sending())
  assert.match(textOf(greeting), /Greet Ann\./)
  const resource = await upstream.send(
    permitFor('resources/read', { uri: 'note://ü' }, { kind: 'resource' }),
    sending(),
  )
  assert.match(textOf(resource), /"uri":"note:\/\/ü"/)
  assert.equal(textOf(await upstream.send(permitFor('nothing'), sending())), 'error -32602')
  assert.equal((await upstream.request('tools/list', {}, soon())).kind, 'reply')
}

for (const [era, revision] of Object.entries(eras)) {
  test(`a ${era} server is connected to, listed and called over stdio`, () =>
    worksOn(onStdio('honest', '--era', era), revision))
  for (const answers of ['json', 'sse']) {
    test(`a ${era} server is connected to, listed and called over HTTP with ${answers} answers`, async () => {
      await using fixture = await onHttp('honest', '--era', era, '--answers', answers)
      await worksOn(fixture.reach, revision)
    })
  }
}

test('64 calls at once over stdio each get their own answer', () => eachItsOwn(onStdio('honest')))

test('64 calls at once over HTTP each get their own answer, on fewer connections than calls', async () => {
  await using fixture = await onHttp('honest', '--era', 'dual')
  await eachItsOwn(fixture.reach)
})

async function eachItsOwn(reach: UpstreamSpec['reach']): Promise<void> {
  await using upstream = await connected(reach, {}, { connections: 8 })
  const numbers = Array.from({ length: 64 }, (_, n) => n)
  const answers = await Promise.all(
    numbers.map(async (n) => textOf(await upstream.send(permitFor('add', { a: n, b: 1000 }), sending()))),
  )
  assert.deepEqual(
    answers,
    numbers.map((n) => String(n + 1000)),
  )
  assert.equal(upstream.diagnostics().strays.answers, 0)
}

test('the bytes of a reply are those of its result as the server wrote it', async () => {
  await using upstream = await connected(onStdio('honest'))
  const outcome = await upstream.send(permitFor('echo', { text: 'a "b" \\ \u2028' }), sending())
  assert.ok(outcome.kind === 'reply')
  assert.equal(Buffer.from(outcome.bytes).toString(), '{"content":[{"type":"text","text":"a \\"b\\" \\\\ \u2028"}]}')
  assert.deepEqual(outcome.value, JSON.parse(Buffer.from(outcome.bytes).toString()))
})

test('the arguments are sent as the canonical text that was judged, not as a text made anew', async () => {
  const seen: string[] = []
  await using upstream = await connected(recording(seen))
  const permit = permitFor('echo', { z: 1, a: '\u20ac' })
  const proposal = { ...permit.action.proposal, arguments: { other: true } }
  const action = { ...permit.action, proposal } as AuthorisedAction
  await assert.rejects(upstream.send({ ...permit, action }, sending()), TypeError)
  await upstream.send(permit, sending())
  const sent = JSON.parse(seen.at(-1) ?? '') as { params: JsonObject }
  assert.equal(JSON.stringify(sent.params['arguments']), permit.action.proposal.canonical)
})

/** A legacy server in this process that writes down all that it gets. */
function recording(seen: string[], onOpen?: (server: PairedEnd) => void): UpstreamSpec['reach'] {
  return scripted((heard) => {
    seen.push(JSON.stringify(heard))
    if (heard.method === 'server/discover') return unknownMethod
    return heard.method === 'initialize' ? initialized() : { result: {} }
  }, onOpen)
}

test('what was not minted by the flow is never sent, and neither is what is meant for another upstream', async () => {
  const seen: string[] = []
  await using upstream = await connected(recording(seen))
  const permit = permitFor('echo', { text: 'x' })
  await assert.rejects(
    upstream.send({ ...permit, action: { ...permit.action } as AuthorisedAction }, sending()),
    TypeError,
  )
  await assert.rejects(upstream.send(permitFor('echo', {}, { server: 'other' }), sending()), TypeError)
  assert.ok(!seen.some((text) => text.includes('tools/call')))
})

test('an effect carries the key of its operation, a read does not', async () => {
  const seen: string[] = []
  await using upstream = await connected(recording(seen))
  await upstream.send(permitFor('pay'), sending())
  await upstream.send(permitFor('look', {}, { lane: 'read' }), sending())
  const metas = seen
    .filter((text) => text.includes('tools/call'))
    .map((text) => (JSON.parse(text) as { params: JsonObject }).params['_meta'])
  assert.deepEqual(metas, [{ [IDEMPOTENCY_KEY]: '6f1c2a34-0000-4000-8000-000000000000' }, undefined])
})

test('requests of the server are answered: a ping with an empty result, all else with an error', async () => {
  const seen: string[] = []
  let server: PairedEnd | undefined
  await using upstream = await connected(recording(seen, (end) => void (server = end)))
  await server?.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  await server?.send({ jsonrpc: '2.0', id: 'a', method: 'sampling/createMessage', params: {} })
  await upstream.request('ping', {}, soon())
  assert.ok(seen.includes('{"jsonrpc":"2.0","id":1,"result":{}}'))
  assert.ok(seen.includes('{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}'))
})

test('parameters that the definition wants mirrored go as headers over modern HTTP', async () => {
  await using fixture = await onHttp('honest', '--era', 'modern')
  await using upstream = await connected(fixture.reach)
  const definition = (await upstream.list('tools/list', soon())).find((tool) => tool['name'] === 'mirror')!
  const outcome = await upstream.send(permitFor('mirror', { text: 'Ä' }, { definition }), sending())
  assert.equal(textOf(outcome), '=?base64?w4Q=?=')
})

for (const era of ['legacy', 'modern']) {
  for (const transport of ['stdio', 'http']) {
    test(`a ${era} server that says over ${transport} that its tools changed is heard`, async () => {
      const args = ['--era', era, '--announce']
      await using fixture = transport === 'http' ? await onHttp('shifty', ...args) : undefined
      await using upstream = hold(fixture?.reach ?? onStdio('shifty', ...args))
      const described = async (): Promise<unknown> => (await upstream.list('tools/list', soon()))[0]?.['description']
      await upstream.settled
      assert.equal(await described(), 'Sends the report to the owner.')
      const pid = fixture?.process.pid ?? negotiatedBy(upstream).pid!
      const changed = new Promise<void>((resolve) => {
        upstream.onChanged((kind) => {
          if (kind === 'tools') resolve()
        })
      })
      // The stream for such news is opened beside the first calls, so the first signal may come before it.
      const signals = setInterval(() => process.kill(pid, 'SIGUSR2'), 50)
      await changed.finally(() => clearInterval(signals))
      assert.equal(await described(), 'Sends the report to the stranger.')
    })
  }
}

test('progress reaches the call that it belongs to', async () => {
  await using fixture = await onHttp('honest', '--era', 'dual', '--answers', 'sse', '--progress', '3')
  for (const reach of [fixture.reach, onStdio('honest', '--progress', '3')]) {
    await using upstream = await connected(reach)
    const seen: unknown[] = []
    const onProgress = ({ progress }: JsonObject): void => void seen.push(progress)
    await Promise.all([
      upstream.send(permitFor('slow', { ms: 30 }), sending({ onProgress })),
      upstream.send(permitFor('slow', { ms: 30 }), sending()),
    ])
    assert.deepEqual(seen, [1, 2, 3])
  }
})

test('an upstream that cannot be started says why, tries again, and sends nothing meanwhile', async () => {
  await using upstream = hold({ kind: 'stdio', command: '/nowhere/server', args: ['--token=abc'], cwd: '/', env: {} })
  await upstream.settled
  assert.ok(upstream.state.kind === 'down')
  assert.match(upstream.state.why, /did not start.*ENOENT/)
  assert.doesNotMatch(upstream.state.why, /abc/)
  assert.deepEqual((await upstream.send(permitFor('echo'), sending())).kind, 'not-sent')
  await assert.rejects(upstream.list('tools/list', soon()), { name: 'ListFault', reason: 'down' })
  await next(upstream, 'connecting')
  await next(upstream, 'down')
})

test('a child gets PATH, HOME and what it is given by name, and nothing else of our environment', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'countersign-')), 'environment')
  process.env['COUNTERSIGN_TEST_SECRET'] = 'not for children'
  const program = `require('fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env)); process.exit(3)`
  const reach = {
    kind: 'stdio',
    command: process.execPath,
    args: ['-e', program],
    cwd: '/',
    env: { GIVEN: 'yes' },
  } as const
  await using upstream = hold(reach)
  await upstream.settled
  delete process.env['COUNTERSIGN_TEST_SECRET']
  assert.ok(upstream.state.kind === 'down')
  assert.equal(upstream.state.why, 'the server ended with exit code 3')
  const { PATH, HOME } = process.env
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { PATH, HOME, GIVEN: 'yes' })
})

test('a closed upstream is closed for good, and closing it again is nothing', async () => {
  const upstream = await connected(onStdio('honest'))
  const { pid } = negotiatedBy(upstream)
  await Promise.all([upstream.close(), upstream.close()])
  assert.deepEqual(upstream.state, { kind: 'closed' })
  assert.throws(() => process.kill(pid!, 0))
  assert.equal((await upstream.send(permitFor('echo'), sending())).kind, 'not-sent')
})
