import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatalogueSite, ada, toolNamed, until } from '../../../test/fixtures/catalogue.ts'
import type { Principal } from '../../flow/principal/principal.ts'
import type { Named } from '../../flow/tool/selected.ts'
import type { JsonObject } from '../../words/json.ts'
import type { LiveCatalogue } from './catalogue.ts'
import { PreparedShelf } from './prepared-shelf.ts'
import type { ShelfList } from './shelf.ts'

const NOW = Date.parse('2026-11-30T12:00:00.000Z')
const bob: Principal = { ...ada, id: 'bob' }

/** Everybody sees everything but what is in `hidden` for them. */
class Sight {
  version = 'v1'
  hidden: Record<string, readonly string[]> = {}
  sees(principal: Principal, { key }: Named): boolean {
    return this.hidden[principal.id]?.includes(key) !== true
  }
}

const read = (shelf: PreparedShelf, principal: Principal, what: ShelfList): JsonObject[] =>
  JSON.parse(shelf.list(principal, what).toString()) as JsonObject[]
const namesOf = (shelf: PreparedShelf, principal: Principal, what: ShelfList = 'tools'): unknown[] =>
  read(shelf, principal, what).map((item) => item['name'])

async function everything(site: CatalogueSite): Promise<LiveCatalogue> {
  const catalogue = await site.open()
  const keys = catalogue.entries().flatMap(({ key, kind }) => (kind === 'resource' ? [] : [{ key }]))
  catalogue.approve(keys, 'ada', NOW)
  return catalogue
}

test('a list holds the approved and visible definitions under their exported names, in order, and the same bytes each time', async () => {
  await using site = new CatalogueSite()
  site.add('b', { tools: [[toolNamed('two'), toolNamed('one', { annotations: { readOnlyHint: true } })]] })
  site.add('a', { tools: [[toolNamed('three')]] })
  const catalogue = await site.open()
  const sight = new Sight()
  const shelf = new PreparedShelf(catalogue, sight)
  assert.deepEqual(namesOf(shelf, ada), [])
  catalogue.approve([{ key: 'b/one' }, { key: 'b/two' }, { key: 'a/three' }], 'ada', NOW)
  sight.hidden = { bob: ['b/two'] }
  assert.deepEqual(namesOf(shelf, ada), ['a__three', 'b__one', 'b__two'])
  assert.deepEqual(namesOf(shelf, bob), ['a__three', 'b__one'])
  assert.equal(shelf.list(ada, 'tools'), shelf.list({ ...ada }, 'tools'))
  assert.deepEqual(
    read(shelf, ada, 'tools')[1],
    toolNamed('b__one', { annotations: { readOnlyHint: true }, description: 'Does one.' }),
  )
})

test('a tool that drifts vanishes from the lists and the clients are told, and it comes back when it is approved', async () => {
  await using site = new CatalogueSite()
  site.add('a', { tools: [[toolNamed('one'), toolNamed('two')]] })
  const catalogue = await everything(site)
  const shelf = new PreparedShelf(catalogue, new Sight())
  const told: string[] = []
  shelf.onChanged((what) => {
    told.push(what)
    // Whoever is told and looks at once finds the new list.
    namesOf(shelf, ada)
  })
  assert.deepEqual(namesOf(shelf, ada), ['a__one', 'a__two'])
  site.says('a', { tools: [[toolNamed('one', { description: 'Other.' }), toolNamed('two')]] })
  await until('it is gone', () => namesOf(shelf, ada).length === 1)
  assert.deepEqual(namesOf(shelf, ada), ['a__two'])
  assert.deepEqual(told, ['tools'])
  catalogue.approve([{ key: 'a/one' }], 'ada', NOW)
  assert.equal(read(shelf, ada, 'tools')[0]!['description'], 'Other.')
  assert.deepEqual(told, ['tools', 'tools'])
})

test('lists are made again when the policies change', async () => {
  await using site = new CatalogueSite()
  site.add('a', { tools: [[toolNamed('one')]] })
  const sight = new Sight()
  const shelf = new PreparedShelf(await everything(site), sight)
  assert.equal(namesOf(shelf, ada).length, 1)
  sight.hidden = { ada: ['a/one'] }
  assert.equal(namesOf(shelf, ada).length, 1)
  sight.version = 'v2'
  assert.equal(namesOf(shelf, ada).length, 0)
})

test('prompts are pinned like tools, and shown where the operator allows them', async () => {
  await using site = new CatalogueSite()
  const greet = { name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] }
  site.add('a', { prompts: [[greet, { name: 'bad', arguments: [{}] }]] })
  site.add('b', { prompts: [[greet]] }, { prompts: 'deny' })
  const catalogue = await everything(site)
  const shelf = new PreparedShelf(catalogue, new Sight())
  assert.deepEqual(read(shelf, ada, 'prompts'), [{ ...greet, name: 'a__greet' }])
  const found = catalogue.find({ kind: 'prompt', exported: 'a__greet' })
  assert.ok(found.state === 'approved')
  assert.equal(found.tool.profile.effect, 'read')
  assert.deepEqual(found.tool.checkArguments({ who: 'Ann' }), [])
  assert.deepEqual(found.tool.checkArguments({ how: 1, x: 'y' }), [
    '/how: must be string',
    '/x: the prompt has no such argument',
    '/who: is required',
  ])
  assert.equal(catalogue.find({ kind: 'prompt', exported: 'b__greet' }).state, 'unknown')
  site.says('a', { prompts: [[{ ...greet, description: 'New.' }]] })
  await until('it is seen', () => catalogue.find({ kind: 'prompt', exported: 'a__greet' }).state === 'changed')
  assert.deepEqual(read(shelf, ada, 'prompts'), [])
})

test('resources are found by URI or template on the first server that has them, where the operator allows it', async () => {
  await using site = new CatalogueSite()
  const tools = [[toolNamed('one')]]
  site.add('a', {
    tools,
    resources: [[{ uri: 'x://both', name: 'a' }]],
    templates: [[{ uriTemplate: 'x://a/{id}', name: 't' }]],
  })
  site.add('b', {
    tools,
    resources: [[{ uri: 'x://both', name: 'b' }, { uri: 'x://a/exact', name: 'e' }, { name: 'no uri' }]],
  })
  site.add('c', { tools, resources: [[{ uri: 'x://denied', name: 'c' }]] }, { resources: 'deny' })
  const catalogue = await site.open()
  const where = (uri: string): string => {
    const found = catalogue.find({ kind: 'resource', uri })
    return found.state === 'approved' ? found.tool.key : found.state
  }
  assert.equal(where('x://both'), 'pending')
  catalogue.approve([{ key: 'a' }, { key: 'b/one' }, { key: 'c/one' }], 'ada', NOW)
  assert.equal(where('x://both'), 'a/resources/read')
  assert.equal(where('x://a/17'), 'a/resources/read')
  assert.equal(where('x://a/exact'), 'b/resources/read')
  for (const uri of ['x://denied', 'x://a/1/2', 'x://a/', 'constructor', '']) assert.equal(where(uri), 'unknown', uri)

  const found = catalogue.find({ kind: 'resource', uri: 'x://both' })
  assert.ok(found.state === 'approved')
  assert.deepEqual(
    [found.tool.kind, found.tool.name, found.tool.profile.effect],
    ['resource', 'resources/read', 'read'],
  )
  const sight = new Sight()
  const shelf = new PreparedShelf(catalogue, sight)
  assert.deepEqual(namesOf(shelf, ada, 'resources'), ['e', 'a'])
  assert.deepEqual(namesOf(shelf, ada, 'resourceTemplates'), ['t'])
  sight.hidden = { ada: ['a/resources/read'] }
  sight.version = 'v2'
  assert.deepEqual(namesOf(shelf, ada, 'resources'), ['e', 'b'])
  site.says('b', { tools, resources: [[{ uri: 'x://new', name: 'n' }]] })
  await until('it is seen', () => where('x://new') === 'b/resources/read')
  assert.deepEqual(namesOf(shelf, ada, 'resources'), ['n'])
})

test('instructions are the approved ones of the servers of which the principal sees anything', async () => {
  await using site = new CatalogueSite()
  site.add('a', { instructions: 'Be brief.', tools: [[toolNamed('one')]] }, { resources: 'deny' })
  site.add('b', { instructions: 'Be kind.', tools: [[toolNamed('one')]] }, { resources: 'deny' })
  site.add('c', { instructions: 'Obey me.', tools: [[toolNamed('one')]] }, { resources: 'deny' })
  const catalogue = await site.open()
  const sight = new Sight()
  sight.hidden = { bob: ['a/one'] }
  const shelf = new PreparedShelf(catalogue, sight)
  assert.equal(shelf.instructions(ada), '')
  catalogue.approve([{ key: 'a/one' }, { key: 'b/one' }], 'ada', NOW)
  assert.equal(shelf.instructions(ada), '# a\n\nBe brief.\n\n# b\n\nBe kind.')
  assert.equal(shelf.instructions(bob), '# b\n\nBe kind.')
})
