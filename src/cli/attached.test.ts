import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { answered, digits, oneTool, unknownOperation, waitingApproval } from '../gateway/control/control.fixture.ts'
import type { Control } from '../gateway/control/control.ts'
import { listenPrivately } from '../gateway/control/listen.ts'
import { ownHome } from '../gateway/ownership.ts'
import { refuse } from '../words/verdict.ts'
import { workshopWith } from './cli.fixture.ts'
import { exits } from './exits.ts'

const call: readonly string[] = ['call', 'weather/get_weather', '--arg', 'location=Lisbon', '--arg', 'days:=3']

test('a call prints its result on stdout and what became of it on stderr', async () => {
  await using shop = await workshopWith()
  const { code, stdout, stderr } = await shop.run(call)
  assert.deepEqual([code, stdout], [exits.done, 'fine\n'])
  assert.match(stderr, /operation op_1: succeeded/)
  const [, request] = shop.control.seen.find(([name]) => name === 'call')! as [string, Record<string, unknown>]
  assert.deepEqual(
    { ...request, callId: undefined },
    {
      target: { server: 'weather', name: 'get_weather' },
      arguments: '{"location":"Lisbon","days":3}',
      door: 'cli',
      callId: undefined,
    },
  )
})

test('with --json the report is printed as the gateway wrote it', async () => {
  const result = '{"content":[],"structuredContent":{"id":12345678901234567890}}'
  await using shop = await workshopWith({ call: () => Promise.resolve(answered(result)) })
  const { stdout, stderr } = await shop.run([...call, '--json', '--quiet'])
  assert.ok(stdout.endsWith(`,"result":${result}}\n`))
  assert.equal(stderr, '')
})

test('each way in which a call ends has its exit code, and a refusal is data on stdout', async () => {
  const steps = [
    { step: 'resource', verdict: 'refuse', code: 'SCOPE_OUTSIDE', facts: { path: '/etc' }, micros: 1 },
  ] as const
  const failing = answered('{"content":[{"type":"text","text":"no such city"}],"isError":true}')
  assert.ok(failing.kind === 'answered')
  const cases: [Awaited<ReturnType<Control['call']>>, number, RegExp][] = [
    [
      { kind: 'refused', code: 'SCOPE_OUTSIDE', facts: {}, steps },
      exits.refused,
      /✗ resource +refuse +SCOPE_OUTSIDE path=\/etc/,
    ],
    [
      { kind: 'refused', code: 'APPROVAL_WAITING', facts: {}, steps: [], approval: 'apr_1' },
      exits.waiting,
      /approval approve/,
    ],
    [{ kind: 'refused', code: 'OUTCOME_UNKNOWN', facts: {}, steps: [] }, exits.unknown, /nobody knows yet/],
    [{ kind: 'unknown', operation: 'op_1', why: 'deadline', steps: [] }, exits.unknown, /operation show op_1/],
    [{ ...failing, accepted: { ...failing.accepted, isError: true } }, exits.toolError, /no such city/],
    [
      { kind: 'upstream-error', operation: 'op_1', state: 'unknown', error: { code: 5, message: 'no' }, steps: [] },
      exits.toolError,
      /error 5: no/,
    ],
  ]
  for (const [answer, exit, told] of cases) {
    await using shop = await workshopWith({ call: () => Promise.resolve(answer) })
    const { code, stdout } = await shop.run(call)
    assert.equal(code, exit, stdout)
    assert.match(stdout, told)
    const json = await shop.run([...call, '--json'])
    assert.equal((JSON.parse(json.stdout) as { kind: string }).kind, answer.kind)
    assert.equal(json.code, exit)
  }
})

test('check says what would be, by its exit code too', async () => {
  const step = (verdict: 'pass' | 'ask' | 'refuse') => ({ step: 'consent' as const, verdict, facts: {}, micros: 1 })
  for (const [verdict, exit] of [
    ['pass', exits.done],
    ['ask', exits.waiting],
    ['refuse', exits.refused],
  ] as const) {
    await using shop = await workshopWith({ check: () => Promise.resolve({ steps: [step(verdict)] }) })
    const { code, stdout } = await shop.run(['check', 'a/b', '--args', '{}'])
    assert.equal(code, exit)
    assert.match(stdout, /consent/)
  }
})

test('arguments come from a file or from stdin as they are', async () => {
  await using shop = await workshopWith()
  writeFileSync(join(shop.folder, 'args.json'), '{"a":1,"a":2}')
  await shop.run(['call', 'odd__tool', '--args', '@args.json'])
  await shop.run(['call', 'odd__tool', '--args', '-'], { input: '{"b":9007199254740993}' })
  const texts = shop.control.seen
    .filter(([name]) => name === 'call')
    .map(([, request]) => (request as { arguments: string }).arguments)
  assert.deepEqual(texts, ['{"a":1,"a":2}', '{"b":9007199254740993}'])
})

test('a question about the call is told to whoever called, with how to answer it', async () => {
  const asked = Promise.withResolvers<string>()
  await using shop = await workshopWith({
    call: async (request) => {
      asked.resolve(request.callId!)
      await told.promise
      return { kind: 'refused', code: 'APPROVAL_WAITING', facts: {}, steps: [], approval: 'apr_1' }
    },
    watchApprovals: async function* (_channel, signal) {
      yield { ...waitingApproval, id: 'apr_other', callId: 'another call' }
      yield { ...waitingApproval, callId: await asked.promise, text: 'write \u202e a.txt' }
      setTimeout(() => told.resolve(), 300)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    },
  })
  const told = Promise.withResolvers<void>()
  const { code, stderr } = await shop.run(call)
  assert.equal(code, exits.waiting)
  assert.match(stderr, /countersign approval approve apr_1/)
  assert.match(stderr, /write \\u\{202e\} a\.txt/)
  assert.ok(!stderr.includes('apr_other'))
})

test('what an earlier call left waiting is shown only when this call comes to it too', async () => {
  const left = { ...waitingApproval, tool: 'weather/get_weather', arguments: '{"days":3,"location":"Lisbon"}' }
  const called = Promise.withResolvers<void>()
  const told = Promise.withResolvers<void>()
  const waits = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await using passing = await workshopWith({
    watchApprovals: async function* (_channel, signal) {
      yield left
      await waits(signal)
    },
  })
  assert.doesNotMatch((await passing.run(call)).stderr, /apr_1/)
  await using asking = await workshopWith({
    call: async () => {
      called.resolve()
      await told.promise
      return answered('{"content":[]}')
    },
    watchApprovals: async function* (_channel, signal) {
      yield left
      await called.promise
      yield left
      setTimeout(() => told.resolve(), 300)
      await waits(signal)
    },
  })
  assert.match((await asking.run(call)).stderr, /approval approve apr_1/)
})

test('a refusal names the question that waits and whoever said no, also with --quiet', async () => {
  const answers: [Awaited<ReturnType<Control['call']>>, RegExp][] = [
    [
      { kind: 'refused', code: 'APPROVAL_WAITING', facts: { approval: 'apr_7' }, steps: [], approval: 'apr_7' },
      /`countersign approval approve apr_7`/,
    ],
    [
      {
        kind: 'refused',
        code: 'APPROVAL_DENIED',
        facts: { approval: 'apr_7', by: 'ada', why: 'not today' },
        steps: [],
      },
      /Denied by ada: not today\./,
    ],
  ]
  for (const [answer, told] of answers) {
    await using shop = await workshopWith({ call: () => Promise.resolve(answer) })
    assert.match((await shop.run([...call, '--quiet'])).stdout, told)
  }
})

test('a second answer is told what became of the first', async () => {
  await using shop = await workshopWith({
    decideApproval: () => Promise.resolve(refuse('AUTHORISATION_STALE', { approval: 'apr_1', state: 'denied' })),
    approval: () => Promise.resolve({ ...waitingApproval, state: 'denied', by: 'local', channel: 'cli', decidedAt: 0 }),
  })
  const { code, stdout } = await shop.run(['approval', 'approve', 'apr_1'])
  assert.equal(code, exits.refused)
  assert.match(stdout, /it was already denied \(by local, by cli, 1970-01-01T00:00:00Z\)/)
  assert.doesNotMatch(stdout, /Send the call again/)
})

test('what is not there is named, with the command that lists what is', async () => {
  await using shop = await workshopWith({ approval: () => Promise.resolve(undefined) })
  const { code, stderr } = await shop.run(['approval', 'show', 'apr_9'])
  assert.equal(code, exits.fault)
  assert.match(stderr, /NOT_FOUND: there is no approval `apr_9` here\. See `countersign approval list --all`\./)
})

test('an approval is given and denied by name, by the channel cli', async () => {
  await using shop = await workshopWith()
  assert.equal((await shop.run(['approval', 'approve', 'apr_1'])).code, exits.done)
  assert.equal((await shop.run(['approval', 'deny', 'apr_1', '--why', 'no'])).code, exits.done)
  assert.deepEqual(shop.control.seen.slice(-1), [
    ['decideApproval', 'apr_1', { decision: 'denied', channel: 'cli', why: 'no' }],
  ])
  const list = await shop.run(['approval', 'list'])
  assert.match(list.stdout, /apr_1 +waiting +filesystem\/write_file/)
  await using strict = await workshopWith({
    decideApproval: () => Promise.resolve(refuse('CONSENT_RULE_DENIES', { by: 'local' })),
  })
  const refused = await strict.run(['approval', 'approve', 'apr_1', '--json'])
  assert.equal(refused.code, exits.refused)
  assert.equal((JSON.parse(refused.stdout) as { code: string }).code, 'CONSENT_RULE_DENIES')
})

test('a tool is approved by the digest that was looked at, and by nothing less', async () => {
  await using shop = await workshopWith({
    approveTool: (ref, { pin }) => Promise.resolve({ ...oneTool, name: ref.name, pin }),
  })
  const blind = await shop.run(['tool', 'approve', 'odd/tool'])
  assert.equal(blind.code, exits.usage)
  assert.match(blind.stderr, new RegExp(`--pin ${digits}`))
  assert.equal((await shop.run(['tool', 'approve', 'odd/tool', '--pin', digits])).code, exits.done)
  assert.equal((await shop.run(['tool', 'approve', 'odd/tool', '--yes'])).code, exits.done)
})

test('a difference is shown with everything that is not seen written out', async () => {
  const differences = [{ at: '/description', approved: 'Reads.', live: 'Reads.\u200b And sends.' }]
  await using shop = await workshopWith({ tool: () => Promise.resolve({ ...oneTool, state: 'changed', differences }) })
  const { code, stdout } = await shop.run(['tool', 'diff', 'odd/tool'])
  assert.equal(code, exits.refused)
  assert.match(stdout, /\/description\n {2}- Reads\.\n {2}\+ Reads\.\\u\{200b\} And sends\./)
})

test('a difference says first of what kind it is', async () => {
  const differences = [{ at: '/description', approved: 'Reads.', live: 'Sends.' }]
  const [approved, live] = [
    { name: 'tool', description: 'Reads.' },
    { name: 'tool', description: 'Sends.' },
  ]
  const changed = { ...oneTool, state: 'changed' as const, differences, approved, live }
  await using shop = await workshopWith({ tool: () => Promise.resolve(changed) })
  assert.match((await shop.run(['tool', 'diff', 'odd/tool'])).stdout, /^odd\/\S+ .*: reworded\n/)
  const { stdout } = await shop.run(['tool', 'diff', 'odd/tool', '--json'])
  assert.deepEqual((JSON.parse(stdout) as { kinds: string[] }).kinds, ['reworded'])
})

test('an outcome is decided with a reason, and one that stays open has its exit code', async () => {
  await using shop = await workshopWith({
    decideOperation: (_id, { decision }) =>
      Promise.resolve({ ...unknownOperation, state: decision === 'hold' ? 'held' : 'reconciled_effect' }),
  })
  assert.equal((await shop.run(['operation', 'decide', 'op_1', '--effect'])).code, exits.usage)
  assert.equal((await shop.run(['operation', 'decide', 'op_1', '--effect', '--none', '--why', 'x'])).code, exits.usage)
  assert.equal((await shop.run(['operation', 'decide', 'op_1', '--effect', '--why', 'seen'])).code, exits.done)
  assert.equal((await shop.run(['operation', 'decide', 'op_1', '--hold', '--why', 'later'])).code, exits.unknown)
})

test('every list has JSON with its name, also when it is empty', async () => {
  await using shop = await workshopWith()
  const lists = { server: 'servers', tool: 'tools', approval: 'approvals', operation: 'operations', budget: 'budgets' }
  for (const [noun, name] of Object.entries(lists)) {
    const { stdout, code } = await shop.run([noun, 'list', '--json'])
    assert.equal(code, exits.done)
    assert.ok(Array.isArray((JSON.parse(stdout) as Record<string, unknown>)[name]), noun)
  }
})

test('an export goes to a new file, never over one that is there, and never half', async () => {
  await using shop = await workshopWith()
  const file = join(shop.folder, 'evidence.jsonl')
  assert.equal((await shop.run(['evidence', 'export', file])).code, exits.done)
  assert.equal(readFileSync(file, 'utf8'), '{"first":true}\n{"records":1}\n')
  assert.equal((await shop.run(['evidence', 'export', file])).code, exits.fault)
  assert.equal(readFileSync(file, 'utf8'), '{"first":true}\n{"records":1}\n')
  await using breaking = await workshopWith({
    exportEvidence: async function* () {
      yield await Promise.resolve('x'.repeat(100_000))
      throw new Error('the ledger is gone')
    },
  })
  const half = join(breaking.folder, 'evidence.jsonl')
  assert.equal((await breaking.run(['evidence', 'export', half])).code, exits.fault)
  assert.ok(!existsSync(half))
})

test('stdio passes bytes both ways, lets the last answers through, and prints nothing of its own', async () => {
  await using shop = await workshopWith()
  const pipes = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    let heard = ''
    socket.on('data', (part: Buffer) => {
      heard += part.toString('latin1')
      socket.write(part)
    })
    socket.on('end', () => socket.end(`last:${heard.length}`))
  })
  await listenPrivately(pipes, shop.home.mcpSocket)
  const input = Buffer.from(Array.from({ length: 200_000 }, (_, n) => n % 256)).toString('latin1')
  const { code, stdout, stderr } = await shop.run(['stdio'], { input })
  assert.deepEqual([code, stderr], [exits.done, ''])
  assert.ok(stdout.endsWith(`last:${Buffer.byteLength(input)}`))
  pipes.close()
})

test('stdio ends when the gateway does, with a fault on stderr', async () => {
  await using shop = await workshopWith()
  const pipes = createServer((socket: Socket) => socket.end('bye'))
  await listenPrivately(pipes, shop.home.mcpSocket)
  const child = shop.start(['--home', shop.home.folder, 'stdio'])
  const [code] = (await once(child, 'exit')) as [number]
  assert.equal(code, exits.fault)
  pipes.close()
})

test('the live ledger is judged by the gateway that writes it, and by its exit code', async () => {
  const verdicts = {
    valid: exits.done,
    tampered: exits.tampered,
    incomplete: exits.incomplete,
    unjudgeable: exits.unjudgeable,
  }
  for (const [verdict, exit] of Object.entries(verdicts) as [keyof typeof verdicts, number][]) {
    await using shop = await workshopWith({ verifyEvidence: () => Promise.resolve({ verdict, records: 7, why: [] }) })
    using owned = ownHome(shop.home.folder)
    const { code, stdout } = await shop.run(['evidence', 'verify', '--json'])
    assert.equal(code, exit)
    assert.deepEqual(JSON.parse(stdout), { verdict, records: 7, why: [] })
    assert.equal(owned.folder, shop.home.folder)
  }
})

test('a program watches questions as lines of JSON, until it is interrupted', async () => {
  await using shop = await workshopWith({
    watchApprovals: async function* (_channel, signal) {
      yield waitingApproval
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    },
  })
  const child = shop.start(['--home', shop.home.folder, 'approval', 'watch', '--json'])
  const ended = once(child, 'exit')
  const [part] = (await once(child.stdout, 'data')) as [Buffer]
  assert.deepEqual(JSON.parse(part.toString()), waitingApproval)
  child.kill('SIGINT')
  assert.equal((await ended)[0], exits.interrupted)
})

test('tool search prints declarations, and says why where nothing fits', async () => {
  const matches = [
    { key: 'mail/send', exportedName: 'mail__send', server: 'mail', score: 7.25, text: 'mail__send({to: string})' },
  ]
  const found = { matches, searched: 9, confidence: 2, floor: 1, margin: 0.5, left: 0 }
  const asked: unknown[] = []
  await using shop = await workshopWith({
    searchTools: (query) => {
      asked.push(query)
      if (query.query.includes('night'))
        return Promise.resolve({ ...found, matches: [], why: 'the request reads like talk that needs no tool' })
      return Promise.resolve(found)
    },
  })
  const { code, stdout } = await shop.run([
    'tool',
    'search',
    'send',
    'a mail',
    '--limit',
    '5',
    '--detail',
    'declaration',
  ])
  assert.equal(code, exits.done)
  assert.match(stdout, /^mail\/send +7\.3\nmail__send\(\{to: string\}\)/)
  const none = await shop.run(['tool', 'search', 'good night', '--json'])
  assert.equal(none.code, exits.refused)
  assert.match((JSON.parse(none.stdout) as { why: string }).why, /talk/)
  assert.deepEqual(asked, [{ query: 'send a mail', limit: 5, detail: 'declaration' }, { query: 'good night' }])
  assert.equal((await shop.run(['tool', 'search', 'x', '--limit', '0'])).code, exits.usage)
})
