import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import type { JsonObject } from '../../src/words/json.ts'
import { fixture, makeSite } from '../fixtures/site.ts'
import { openApproved, tokenOf, until } from '../hostile/attack.ts'
import { callTool, door, type Got, modern, rpc, session } from '../hostile/client.ts'

// Cases that users of other gateways ran into, end to end; test/issue/audit.test.ts says which test holds which.

const bea = 'a-token-that-is-long-enough-b'

async function open(
  t: TestContext,
  servers: string,
  policy?: string,
): Promise<{ gateway: RunningGateway; token: string }> {
  const site = makeSite(
    t,
    ({ folder }) => {
      writeFileSync(join(folder, 'bea'), bea, { mode: 0o600 })
      return `
servers:
${servers}
principals: [{ id: bea, tenant: acme, tokenFile: ./bea }]
consent: { rules: [{ name: all passes, decision: allow }] }
`
    },
    policy,
  )
  return { gateway: await openApproved(t, site), token: tokenOf(site) }
}
const listed = (got: Got): JsonObject[] => (got.message['result'] as { tools: JsonObject[] }).tools
const named = (it: JsonObject): string => it['name'] as string

test('T1: tools of the second page are listed, callable and governed like those of the first, behind an empty cursor too', async (t) => {
  const policy = `permit (principal, action, resource);
forbid (principal, action, resource) when { resource has name && resource.name == "secret" };`
  const { gateway, token } = await open(t, `  a: { command: node, args: [${fixture('paged')}] }`, policy)
  const names = listed(await door(gateway, token, modern('tools/list'))).map(named)
  assert.equal(names.filter((name) => name.startsWith('a__')).length, 10)
  assert.ok(names.includes('a__page2') && !names.includes('a__secret'))
  assert.match((await callTool(gateway, token, 'a__page2', {})).text, /ran page2/)
  assert.match((await callTool(gateway, token, 'a__secret', {})).text, /Unknown name/)
})

test('T9: two servers with the same tool, a long name and an odd one: each has a name of its own that every provider takes', async (t) => {
  const one = `  one: { command: node, args: [${fixture('paged')}], naming: bare }`
  const two = `  two: { command: node, args: [${fixture('paged')}], naming: bare }`
  const { gateway, token } = await open(t, `${one}\n${two}`)
  const names = listed(await door(gateway, token, modern('tools/list'))).map(named)
  const own = names.filter((name) => !name.startsWith('countersign__'))
  assert.equal(own.length, 22)
  assert.equal(new Set(own).size, 22)
  for (const name of own) assert.match(name, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
  // The way from each exported name to its server and tool is shown, and each leads to that very tool.
  for (const { server, name, exportedName } of await gateway.control.tools({ kind: 'tool' })) {
    assert.ok(own.includes(exportedName), `${server}/${name}`)
    assert.match((await callTool(gateway, token, exportedName, {})).text, new RegExp(`ran ${name.replace(/\W/g, '.')}`))
  }
  const alone = await open(t, one)
  const before = listed(await door(alone.gateway, alone.token, modern('tools/list'))).map(named)
  assert.ok(
    before.every((name) => names.includes(name)),
    'a server that joins renames nothing',
  )
})

test('T12: references, unions, titles, annotations, icons and _meta of a tool arrive as the server said them, with equal bytes each time', async (t) => {
  const { gateway, token } = await open(t, `  a: { command: node, args: [${fixture('paged')}] }`)
  const first = await door(gateway, token, modern('tools/list'))
  const tool = listed(first).find((it) => it['name'] === 'a__page2')!
  const said = (await gateway.control.tool({ server: 'a', name: 'page2', kind: 'tool' }))!.live!
  assert.deepEqual(tool, { ...said, name: 'a__page2' })
  const headers = await session(gateway, token)
  const legacy = await door(gateway, token, { headers, body: rpc('tools/list') })
  assert.deepEqual(listed(legacy), listed(first))
  assert.equal((await door(gateway, token, modern('tools/list'))).text, first.text)
})

test('T4, T24: two clients with the same progress token and the same id each get their own progress and their own answer', async (t) => {
  const server = `  a:
    command: node
    args: [${fixture('honest')}, --progress, '3']
    shared: true
    tools: { slow: { effect: read } }`
  const { gateway, token } = await open(t, server)
  const ask = async (who: string, ms: number): Promise<string> => {
    const headers = await session(gateway, who)
    const params = { name: 'a__slow', arguments: { ms }, _meta: { progressToken: 0 } }
    return (await door(gateway, who, { headers, body: rpc('tools/call', params, 0) })).text
  }
  for (const text of await Promise.all([ask(token, 300), ask(bea, 600), ask(token, 450)])) {
    const messages = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
    const progress = messages.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params)
    assert.deepEqual(new Set(progress.map((it) => it.progressToken)), new Set([0]))
    assert.equal(progress.filter((it) => it.total === 3).length, 3, text)
    const answers = messages.filter((it) => 'result' in it)
    assert.deepEqual(
      answers.map(({ id, result }) => [id, result.content[0].text]),
      [[0, 'slept']],
    )
  }
})

test('T7: a server that dies takes one call with it at most: the session of the client stays, and the next calls are answered', async (t) => {
  const { gateway, token } = await open(
    t,
    `  a: { command: node, args: [${fixture('counting')}], tools: { count: { effect: read } } }`,
  )
  const headers = await session(gateway, token)
  const count = async (): Promise<string> =>
    (await door(gateway, token, { headers, body: rpc('tools/call', { name: 'a__count', arguments: {} }) })).text
  assert.match(await count(), /"text":"1"/)
  const { pid } = (await gateway.control.server('a'))!
  process.kill(pid!, 'SIGKILL')
  await until('it is noticed', async () => (await gateway.control.server('a'))?.pid !== pid)
  // What comes while it is away is refused with a reason, and never as an unknown session.
  let last = ''
  await until('it is back', async () => {
    last = await count()
    assert.ok(/SERVER_UNAVAILABLE|NOT_SENT|"text":"1"/.test(last), last)
    return /"text":"1"/.test(last)
  })
})
