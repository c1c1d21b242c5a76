import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CatalogueSite, toolNamed, until } from '../../../test/fixtures/catalogue.ts'
import { undeclared } from '../../flow/tool/profile.ts'
import type { Found } from '../../flow/tool/selected.ts'
import type { LiveCatalogue } from './catalogue.ts'
import { readLock } from './lock.ts'

const NOW = Date.parse('2026-11-30T12:00:00.000Z')

const exported = (catalogue: LiveCatalogue, name: string): Found => catalogue.find({ kind: 'tool', exported: name })
const states = (catalogue: LiveCatalogue): object =>
  Object.fromEntries(catalogue.entries().map(({ key, state }) => [key, state]))
const approveAll = (catalogue: LiveCatalogue): void => {
  const wanted = catalogue
    .entries()
    .flatMap(({ key, kind, livePin }) => (kind === 'resource' || !livePin ? [] : [{ key, pin: livePin }]))
  for (const { outcome, key } of catalogue.approve(wanted, 'ada', NOW)) assert.equal(outcome, 'done', key)
}

test('what nobody approved is known and not callable, and an approval makes it so and is on file', async () => {
  await using site = new CatalogueSite()
  site.add(
    'notes',
    { instructions: 'Be brief.', tools: [[toolNamed('read')], [toolNamed('write')]] },
    { resources: 'deny', prompts: 'deny' },
  )
  const catalogue = await site.open()
  assert.deepEqual(states(catalogue), { 'notes/read': 'pending', 'notes/write': 'pending' })
  assert.equal(exported(catalogue, 'notes__read').state, 'pending')
  const before = catalogue.version

  const entry = catalogue.entry('notes/read')!
  assert.deepEqual(catalogue.approve([{ key: 'notes/read', pin: entry.livePin! }], 'ada', NOW), [
    { key: 'notes/read', outcome: 'done' },
  ])
  const found = exported(catalogue, 'notes__read')
  assert.equal(found.state, 'approved')
  assert.ok(found.state === 'approved')
  assert.equal(found.tool.pin, entry.livePin)
  assert.equal(found.tool.serverVersion, '1.0.0')
  assert.deepEqual(found.tool.checkArguments({ text: 'x' }), [])
  assert.deepEqual(found.tool.checkArguments({}), ["(whole value): must have required property 'text'"])
  assert.equal(catalogue.find({ kind: 'tool', server: 'notes', name: 'read' }), found)
  assert.equal(exported(catalogue, 'notes__write').state, 'pending')
  assert.ok(catalogue.version > before)
  const lock = readLock(site.lock).get('notes')!
  assert.equal(lock.instructions, 'Be brief.')
  assert.deepEqual([...lock.tools.keys()], ['read'])
  assert.deepEqual(
    site.events.map(({ kind }) => kind),
    ['server.approved', 'tool.approved'],
  )
})

test('a second start takes approvals from the file, and the same server has the same pins', async () => {
  await using site = new CatalogueSite()
  site.add('notes', { tools: [[toolNamed('read')]], prompts: [[{ name: 'greet' }]] })
  const first = await site.open()
  approveAll(first)
  const bytes = readFileSync(site.lock)
  const second = await site.open()
  assert.deepEqual(states(second), {
    'notes/read': 'approved',
    'notes/prompts/greet': 'approved',
    'notes/resources/read': 'approved',
  })
  assert.deepEqual(second.approve([{ key: 'notes/read' }], 'bob', NOW), [{ key: 'notes/read', outcome: 'unchanged' }])
  assert.deepEqual(readFileSync(site.lock), bytes)
})

test('a definition that changes while the server runs is drift: not callable, with the word that changed', async () => {
  await using site = new CatalogueSite()
  site.add('notes', { tools: [[toolNamed('read'), toolNamed('other')]] })
  const catalogue = await site.open()
  approveAll(catalogue)
  const before = catalogue.version
  site.says('notes', { tools: [[toolNamed('read', { description: 'Does read, and more.' }), toolNamed('other')]] })
  await until('the change is seen', () => exported(catalogue, 'notes__read').state === 'changed')
  assert.deepEqual(exported(catalogue, 'notes__read'), {
    state: 'changed',
    about: catalogue.show('notes/read')!.about,
    differences: [{ at: '/description', approved: 'Does read.', live: 'Does read, and more.' }],
  })
  assert.deepEqual(catalogue.diff('notes/read'), {
    definition: [{ at: '/description', approved: 'Does read.', live: 'Does read, and more.' }],
    server: [],
  })
  assert.equal(exported(catalogue, 'notes__other').state, 'approved')
  assert.equal(catalogue.version, before + 1)
  const drift = site.events.filter(({ kind }) => kind === 'tool.drift')
  assert.equal(drift.length, 1)

  site.says('notes', { tools: [[toolNamed('read'), toolNamed('other')]] })
  await until('the change is gone', () => exported(catalogue, 'notes__read').state === 'approved')
})

test('an approval is of what the person saw, not of what the server says by then', async () => {
  await using site = new CatalogueSite()
  site.add('notes', { tools: [[toolNamed('read')]] })
  const catalogue = await site.open()
  const seen = catalogue.entry('notes/read')!.livePin!
  site.says('notes', { tools: [[toolNamed('read', { description: 'Other.' })]] })
  await until('the change is seen', () => catalogue.entry('notes/read')!.livePin !== seen)
  const [approval] = catalogue.approve([{ key: 'notes/read', pin: seen }], 'ada', NOW)
  assert.equal(approval!.outcome, 'refused')
  assert.equal(exported(catalogue, 'notes__read').state, 'pending')
  approveAll(catalogue)
  assert.equal(exported(catalogue, 'notes__read').state, 'approved')
})

test('a list that is old is asked for again before a call with an effect, and only then', async () => {
  await using site = new CatalogueSite()
  // It keeps its changes to itself, so that only the refresh can see them.
  site.add('notes', { tools: [[toolNamed('read'), toolNamed('write')]] }, { announce: false })
  site.profiles.set('notes/read', { ...undeclared, effect: 'read', declared: true })
  const catalogue = await site.open({ effectMaxAgeMs: 0 })
  approveAll(catalogue)
  const [read, write] = ['notes__read', 'notes__write'].map((name) => exported(catalogue, name))
  assert.ok(read?.state === 'approved' && write?.state === 'approved')
  site.says('notes', { tools: [[toolNamed('read'), toolNamed('write', { title: 'Evil' })]] })
  const signal = AbortSignal.timeout(5_000)
  assert.equal(catalogue.refresh(read.tool, signal), undefined)
  assert.equal(exported(catalogue, 'notes__write').state, 'approved')
  await catalogue.refresh(write.tool, signal)
  assert.equal(exported(catalogue, 'notes__write').state, 'changed')

  const patient = await site.open({ effectMaxAgeMs: 60_000 })
  assert.equal(patient.refresh(write.tool, signal), undefined)
})

test('a refresh that fails or is given up rejects, and a stale list is not taken for a fresh one', async () => {
  await using site = new CatalogueSite()
  site.add('notes', { tools: [[toolNamed('write')]] }, { announce: false })
  const catalogue = await site.open({ effectMaxAgeMs: 0 })
  approveAll(catalogue)
  const found = exported(catalogue, 'notes__write')
  assert.ok(found.state === 'approved')
  site.says('notes', { tools: [5] })
  await assert.rejects(async () => catalogue.refresh(found.tool, AbortSignal.timeout(5_000)), /could not be read/)
  await assert.rejects(async () => catalogue.refresh(found.tool, AbortSignal.abort()), { name: 'AbortError' })
})

test('a server that says nothing of its changes is asked again by itself', async () => {
  await using site = new CatalogueSite()
  site.add('notes', { tools: [[toolNamed('read')]] }, { announce: false })
  const catalogue = await site.open({ pollMs: 30 })
  approveAll(catalogue)
  site.says('notes', { tools: [[]] })
  await until('the tool is gone', () => catalogue.entry('notes/read')!.state === 'gone')
  assert.deepEqual(exported(catalogue, 'notes__read'), { state: 'unknown' })
  assert.equal(site.events.filter(({ kind }) => kind === 'tool.drift').length, 1)
})

test('a list that cannot be read any more counts as unknown after a while', async () => {
  await using site = new CatalogueSite()
  site.add('notes', { tools: [[toolNamed('read')]] }, { announce: false })
  const catalogue = await site.open({ pollMs: 20 })
  approveAll(catalogue)
  site.says('notes', { tools: [5] })
  await until('it is unavailable', () => exported(catalogue, 'notes__read').state === 'unavailable')
  const found = exported(catalogue, 'notes__read')
  assert.match(found.state === 'unavailable' ? found.why : '', /could not be read/)
  site.says('notes', { tools: [[toolNamed('read')]] })
  await until('it is back', () => exported(catalogue, 'notes__read').state === 'approved')
})

test('bad tools stay in quarantine with a reason, and hide none of the others', async () => {
  await using site = new CatalogueSite()
  const bad: [object, RegExp][] = [
    [{ name: 'noschema' }, /no input schema/],
    [toolNamed('remote', { inputSchema: { $ref: 'https://example.test/x' } }), /nothing is ever fetched/],
    [toolNamed('text', { inputSchema: { type: 'string' } }), /does not describe an object/],
    [toolNamed('output', { outputSchema: { $ref: '#/none' } }), /output schema: a reference leads to nothing/],
    [toolNamed('prompts/x'), /reserved/],
    [{ inputSchema: {} }, /no name/],
    [toolNamed('x'.repeat(300)), /longer than/],
  ]
  const twice = [toolNamed('twice'), toolNamed('twice', { description: 'Other.' })]
  site.add('notes', {
    tools: [
      [...bad.map(([tool]) => tool), twice[0]],
      [toolNamed('good'), twice[1]],
    ],
  })
  const catalogue = await site.open()
  for (const [tool, why] of bad) {
    const entry = catalogue.entry(`notes/${'name' in tool ? String(tool.name) : ''}`)!
    assert.equal(entry.state, 'pending')
    assert.match(entry.why!, why)
    assert.equal(catalogue.approve([{ key: entry.key }], 'ada', NOW)[0]!.outcome, 'refused')
  }
  assert.match(catalogue.entry('notes/twice')!.why!, /twice/)
  assert.equal(catalogue.approve([{ key: 'notes/good' }], 'ada', NOW)[0]!.outcome, 'done')
  assert.equal(exported(catalogue, 'notes__good').state, 'approved')
})

test('an approved tool that is listed twice cannot be called: nobody knows which one it would be', async () => {
  await using site = new CatalogueSite()
  site.add('notes', { tools: [[toolNamed('read')]] })
  const catalogue = await site.open()
  approveAll(catalogue)
  site.says('notes', { tools: [[toolNamed('read')], [toolNamed('read', { description: 'Shadow.' })]] })
  await until('it is seen', () => exported(catalogue, 'notes__read').state === 'pending')
  assert.equal(site.events.filter(({ kind }) => kind === 'tool.drift').length, 1)
})

test('a schema that passes the limits and does not compile is refused at approval', async () => {
  await using site = new CatalogueSite()
  const inputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '(?=a)b' } } }
  site.add('notes', { tools: [[toolNamed('look', { inputSchema }), toolNamed('good')]] })
  const catalogue = await site.open()
  const [refused] = catalogue.approve([{ key: 'notes/look' }], 'ada', NOW)
  assert.match(refused!.why!, /cannot be compiled/)
  assert.equal(exported(catalogue, 'notes__look').state, 'pending')
})

test('names that every object inherits are names like any other', async () => {
  await using site = new CatalogueSite()
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
  site.add('s', { tools: [names.map((name) => toolNamed(name))] })
  const catalogue = await site.open()
  approveAll(catalogue)
  for (const name of names) assert.equal(catalogue.find({ kind: 'tool', server: 's', name }).state, 'approved', name)
  assert.equal(catalogue.find({ kind: 'tool', server: 's', name: 'valueOf' }).state, 'unknown')
  for (const exportedName of ['constructor', '__proto__', 'valueOf']) {
    assert.equal(catalogue.find({ kind: 'tool', exported: exportedName }).state, 'unknown')
    assert.equal(catalogue.find({ kind: 'tool', server: exportedName, name: 'x' }).state, 'unknown')
    assert.equal(catalogue.find({ kind: 'prompt', exported: exportedName }).state, 'unknown')
  }
})

test('a tool whose name would give it the key of a prompt is never callable, whether that prompt is there or not', async () => {
  await using site = new CatalogueSite()
  const tools = [[toolNamed('prompts/greet'), toolNamed('resources/read'), toolNamed('read')]]
  site.add('both', { tools, prompts: [[{ name: 'greet' }]] })
  site.add('alone', { tools }, { prompts: 'deny', resources: 'deny' })
  const catalogue = await site.open()
  const alone = catalogue.entry('alone/prompts/greet')
  assert.deepEqual([alone?.kind, alone?.state, alone?.why], ['tool', 'pending', 'its name is reserved'])
  assert.equal(catalogue.approve([{ key: 'alone/prompts/greet' }], 'ada', NOW)[0]?.outcome, 'refused')
  // This key is that of the server's resources, which are approved with the server itself.
  catalogue.approve([{ key: 'alone/resources/read' }], 'ada', NOW)
  assert.equal(readLock(site.lock).get('alone')?.tools.size, 0)
  approveAll(catalogue)
  // The key is that of the prompt, and whoever approves it approves the prompt and nothing else.
  assert.equal(catalogue.entry('both/prompts/greet')?.kind, 'prompt')
  assert.equal(catalogue.find({ kind: 'prompt', exported: 'both__greet' }).state, 'approved')
  for (const server of ['both', 'alone'])
    for (const name of ['prompts/greet', 'resources/read'])
      assert.notEqual(catalogue.find({ kind: 'tool', server, name }).state, 'approved', `${server}/${name}`)
  assert.deepEqual(
    catalogue.approved('tool').map(({ key }) => key),
    ['both/read', 'alone/read'],
  )
})
