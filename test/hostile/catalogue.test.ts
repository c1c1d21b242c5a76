import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import type { Json, JsonObject } from '../../src/words/json.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { call, openApproved, tokenOf, until, wordFor } from './attack.ts'
import { callTool, door, type Got, modern, rpc, session } from './client.ts'

const plain: JsonObject = { type: 'object', properties: { text: { type: 'string' } } }
const tool = (name: string, inputSchema: Json = plain, more: JsonObject = {}): JsonObject => ({
  name,
  description: `Does ${name.slice(0, 40)}.`,
  inputSchema,
  ...more,
})

async function open(
  t: TestContext,
  pages: readonly (readonly JsonObject[])[],
): Promise<{ gateway: RunningGateway; site: Site; token: string }> {
  const site = makeSite(t, ({ folder }) => {
    writeFileSync(join(folder, 'says.json'), JSON.stringify({ tools: pages }))
    return `
servers:
  a: { command: node, args: [${fixture('told')}, --says, ${join(folder, 'says.json')}] }
  b: { command: node, args: [${fixture('honest')}] }
consent: { rules: [{ name: all passes, decision: allow }] }
`
  })
  const gateway = await openApproved(t, site)
  return { site, gateway, token: tokenOf(site) }
}
const listedIn = (got: Got): JsonObject[] => (got.message['result'] as { tools: JsonObject[] }).tools
const names = async (gateway: RunningGateway, token: string): Promise<string[]> =>
  listedIn(await door(gateway, token, modern('tools/list'))).map(({ name }) => name as string)

test('names that every object has, long, odd and twofold ones: each is a tool of its own or quarantined, and none harms another', async (t) => {
  const odd = [
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '__defineGetter__',
    'then',
    'length',
    '',
    ' ',
    'a b',
    'a/b',
    '../b',
    'a__b',
    'b__echo',
    'ünïcode',
    '‮evil',
    'nul\u0000',
    'new\nline',
    '"quote',
    'x'.repeat(200),
    `${'x'.repeat(199)}y`,
    'y'.repeat(5000),
  ]
  const { gateway, token } = await open(t, [
    odd.map((name) => tool(name)),
    [tool('twice'), tool('fine')],
    [tool('twice', plain, { description: 'Another one.' })],
  ])
  const exported = await names(gateway, token)
  assert.equal(new Set(exported).size, exported.length, 'two tools of one name')
  for (const name of exported) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
  assert.ok(exported.includes('a__fine') && exported.includes('b__echo'))
  for (const name of ['__proto__', 'constructor', 'toString', 'then']) {
    const word = wordFor(await call(gateway, `a/${name}`, { text: name }))
    assert.ok(['answered:succeeded', 'TOOL_UNKNOWN', 'TOOL_NOT_APPROVED'].includes(word), `${name}: ${word}`)
  }
  for (const name of exported) {
    const { text, status } = await callTool(gateway, token, name, name.startsWith('b__') ? {} : { text: 'x' })
    assert.equal(status, 200, name)
    assert.doesNotMatch(text, /Internal error/, `${name}: ${text}`)
  }
  for (const name of ['__proto__', 'constructor', 'a__constructor__', 'hasOwnProperty'])
    assert.match((await callTool(gateway, token, name, {})).text, /Unknown name/, name)
  const twice = (await gateway.control.tools({})).filter(({ name }) => name === 'twice')
  assert.ok(twice.length <= 1, 'which of the two would run?')
  assert.equal(wordFor(await call(gateway, 'b/echo', { text: 'hi' })), 'answered:succeeded')
  const headers = await session(gateway, token)
  assert.deepEqual(
    listedIn(await door(gateway, token, { headers, body: rpc('tools/list') })).map(({ name }) => name),
    exported,
  )
})

function doubled(depth: number): JsonObject {
  let schema: JsonObject = { type: 'string' }
  for (let n = 0; n < depth; n++) schema = { anyOf: [schema, schema] }
  return { type: 'object', properties: { text: schema } }
}
function nested(depth: number): JsonObject {
  let schema: JsonObject = { type: 'string' }
  for (let n = 0; n < depth; n++) schema = { type: 'object', properties: { a: schema } }
  return { type: 'object', properties: { text: schema } }
}
const hostile: Record<string, Json> = {
  doubled: doubled(16),
  shared: {
    type: 'object',
    $defs: {
      d30: { type: 'string' },
      ...Object.fromEntries(
        Array.from({ length: 30 }, (_, n) => [
          `d${n}`,
          { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
        ]),
      ),
    },
    properties: { text: { $ref: '#/$defs/d0' } },
  },
  loop: {
    type: 'object',
    $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    properties: { text: { $ref: '#/$defs/a' } },
  },
  self: { type: 'object', properties: { text: { $ref: '#' } }, allOf: [{ $ref: '#' }] },
  regex: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
  'regex-key': { type: 'object', patternProperties: { '^(a|a)*$': {}, '(x+x+)+y': {} } },
  backref: { type: 'object', properties: { text: { type: 'string', pattern: '(a)\\1(?=b)' } } },
  remote: { type: 'object', properties: { text: { $ref: 'http://127.0.0.1:9/schema.json' } } },
  file: { type: 'object', properties: { text: { $ref: 'file:///etc/passwd' } } },
  'dynamic-ref': { type: 'object', properties: { text: { $dynamicRef: 'http://evil.example/x#y' } } },
  'other-dialect': { $schema: 'http://evil.example/dialect', type: 'object' },
  deep: nested(24),
  wide: {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, { type: 'string' }])),
  },
  'a-list': { type: 'array' },
  'a-text': 'object',
  'a-null': null,
  'a-false': false,
  wrong: { type: 'object', properties: { text: { type: 'strung' } } },
  'proto-keys': JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__"]}',
  ) as Json,
  'a-big-enum': { type: 'object', properties: { text: { enum: Array.from({ length: 50_000 }, (_, n) => n) } } },
  'min-items': { type: 'object', properties: { text: { type: 'array', minItems: 4e9, uniqueItems: true } } },
}

test('hostile schemas are quarantined or bounded, each alone; no list, no call and no address waits for them', async (t) => {
  const began = performance.now()
  const { gateway, token } = await open(t, [
    Object.entries(hostile).map(([name, schema]) => tool(name, schema)),
    [tool('fine')],
  ])
  assert.ok(performance.now() - began < 15_000)
  const exported = await names(gateway, token)
  assert.ok(exported.includes('a__fine') && exported.includes('b__echo'), exported.join())
  const forbidden = [
    'remote',
    'file',
    'dynamic-ref',
    'other-dialect',
    'a-list',
    'a-text',
    'a-null',
    'a-false',
    'wrong',
    'doubled',
    'deep',
    'loop',
  ]
  assert.deepEqual(
    forbidden.filter((name) => exported.includes(`a__${name}`)),
    [],
  )
  const evil = `${'a'.repeat(50_000)}!`
  for (const name of Object.keys(hostile)) {
    const before = performance.now()
    const word = wordFor(await call(gateway, `a/${name}`, { text: evil, ['x'.repeat(5000)]: 1 }))
    const took = performance.now() - before
    assert.ok(took < 5000, `${name} took ${took} ms`)
    assert.ok(
      ['answered:succeeded', 'ARGUMENTS_INVALID', 'TOOL_NOT_APPROVED', 'TOOL_UNKNOWN'].includes(word),
      `${name}: ${word}`,
    )
  }
  for (const { name, state, description } of await gateway.control.tools({}))
    if (state === 'pending') assert.ok(name !== undefined, description)
  assert.equal(wordFor(await call(gateway, 'a/fine', { text: 'x' })), 'answered:succeeded')
})

/** Where a list cannot be read, nothing of it is used, and everybody who asks is told why. */
async function closedWith(gateway: RunningGateway, token: string, why: RegExp): Promise<void> {
  let tries = 0
  await until('it is known', async () => {
    await call(gateway, 'a/fine', { text: `try ${tries++}` })
    return why.test((await gateway.control.server('a'))?.why ?? '')
  })
  const server = await gateway.control.server('a')
  assert.equal(server?.state, 'ready')
  const { servers } = await gateway.control.status()
  assert.match(servers.find(({ name }) => name === 'a')?.why ?? '', why)
  assert.equal(servers.find(({ name }) => name === 'b')?.why, undefined)
  const refused = await call(gateway, 'a/fine', { text: 'x' })
  assert.ok(refused.kind === 'refused' && refused.code === 'SERVER_UNAVAILABLE', JSON.stringify(refused))
  assert.match(JSON.stringify(refused.facts['why']), why)
  assert.doesNotMatch((await callTool(gateway, token, 'a__fine', { text: 'x' })).text, /"text":"\{/)
  assert.equal(wordFor(await call(gateway, 'b/echo', { text: 'hi' })), 'answered:succeeded')
}

test('one tool that is nested beyond reason closes its server’s list, and the reason is visible', async (t) => {
  const { gateway, site, token } = await open(t, [[tool('fine')]])
  const deep = { tools: [[tool('fine')], [tool('deep', nested(500))]] }
  writeFileSync(join(site.folder, 'says.json'), JSON.stringify(deep))
  await closedWith(gateway, token, /list of tools could not be read: .*(?:deep|nest|depth)/)
})

test('a list whose cursor comes back is cut: what is not on it is unavailable, and the reason is visible', async (t) => {
  const { gateway, site, token } = await open(t, [[tool('fine')]])
  writeFileSync(join(site.folder, 'says.json'), JSON.stringify({ endless: true }))
  await closedWith(gateway, token, /list of tools could not be read to its end: .*a cursor came twice/)
})

test('a list that changes while it is read, or grows by a hostile page, leaves what was approved in place', async (t) => {
  const { gateway, site, token } = await open(t, [[tool('one'), tool('two')]])
  writeFileSync(
    join(site.folder, 'says.json'),
    JSON.stringify({
      tools: [
        [tool('one'), tool('two'), tool('loop', hostile['loop']!)],
        [tool('one', plain, { description: 'Another one.' })],
      ],
    }),
  )
  let tries = 0
  await until('it is seen', async () => {
    await call(gateway, 'a/one', { text: `try ${tries++}` })
    return !(await names(gateway, token)).includes('a__one')
  })
  assert.deepEqual(
    (await names(gateway, token)).filter((name) => name.startsWith('a__')),
    ['a__two'],
  )
  assert.equal(wordFor(await call(gateway, 'a/two', { text: 'x' })), 'answered:succeeded')
  assert.notEqual(wordFor(await call(gateway, 'a/one', { text: 'y' })), 'answered:succeeded')
})
