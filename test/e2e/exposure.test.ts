import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { approveOffered, fixture, makeSite, openGateway, type Site } from '../fixtures/site.ts'

const yaml =
  (exposure: string) =>
  ({ effects }: Site) =>
    `
servers:
  notes:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools:
      echo: { effect: read, risk: low, examples: ["Repeat after me"] }
      add: { effect: read, risk: low }
      write_note: { effect: once, risk: low }
consent:
  rules:
    - { name: notes are refused, tool: notes/write_note, decision: deny }
    - { name: all pass, decision: allow }
exposure: ${exposure}
`

async function open(t: TestContext, exposure: string): Promise<{ gateway: RunningGateway; site: Site }> {
  const site = makeSite(t, yaml(exposure))
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  return { gateway, site }
}

async function clientOf(
  t: TestContext,
  { gateway, site }: { gateway: RunningGateway; site: Site },
  name: string,
  mode: 'legacy' | 'auto',
): Promise<Client> {
  const token = readFileSync(join(site.home, 'token'), 'utf8').trim()
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit }))
  t.after(() => client.close())
  return client
}

const textOf = (result: { readonly content?: unknown }): string =>
  (result.content as readonly { text: string }[]).map(({ text }) => text).join('\n')
const ours = ['countersign__call_tool', 'countersign__describe_tools', 'countersign__search_tools']

for (const mode of ['legacy', 'auto'] as const) {
  test(`with search a client (${mode}) is shown three tools, finds, reads and calls the real one through them`, async (t) => {
    const place = await open(t, '{ mode: search }')
    const client = await clientOf(t, place, 'a client', mode)
    const before = await client.listTools()
    assert.deepEqual(
      before.tools.map(({ name }) => name).filter((name) => !name.startsWith('countersign__operation_')),
      ours,
    )
    assert.deepEqual((await client.listTools()).tools, before.tools)

    const found = textOf(
      await client.callTool({ name: 'countersign__search_tools', arguments: { query: 'add two numbers' } }),
    )
    assert.match(found, /^(?:\/\*\* .* \*\/\n)?notes__add\(\{a: number; b: number\}\)/)
    const byExample = await client.callTool({
      name: 'countersign__search_tools',
      arguments: { query: 'say that again after me, repeat' },
    })
    assert.match(textOf(byExample), /notes__echo/)
    const none = await client.callTool({
      name: 'countersign__search_tools',
      arguments: { query: 'Thanks a lot, good night!' },
    })
    assert.match(textOf(none), /^No tool fits: /)

    const described = await client.callTool({
      name: 'countersign__describe_tools',
      arguments: { names: ['notes__add', 'notes__nothing'] },
    })
    assert.match(textOf(described), /"inputSchema":\{/)
    assert.match(textOf(described), /notes__nothing: there is no tool of that name/)

    const called = await client.callTool({
      name: 'countersign__call_tool',
      arguments: { name: 'notes__add', arguments: { a: 2, b: 3 } },
    })
    assert.match(textOf(called), /5/)
    assert.notEqual(called.isError, true)
    const events = JSON.stringify(await place.gateway.control.evidence({ limit: 100 }))
    assert.ok(events.includes('notes/add'), 'the record names the tool that ran')
    assert.ok(!events.includes('countersign__call_tool'))
  })

  test(`a call through them is judged as a call of the real tool (${mode})`, async (t) => {
    const place = await open(t, '{ mode: search }')
    const client = await clientOf(t, place, 'a client', mode)
    const call = (name: string, given: object) =>
      client.callTool({ name: 'countersign__call_tool', arguments: { name, arguments: { ...given } } })
    const refused = await call('notes__write_note', { name: 'x', text: 'x' })
    assert.equal(refused.isError, true)
    assert.match(textOf(refused), /^CONSENT_RULE_DENIES/)
    const invalid = await call('notes__add', { a: 'two' })
    assert.match(textOf(invalid), /^ARGUMENTS_INVALID/)
    await assert.rejects(call('notes__nothing', {}), /Unknown name: notes__nothing/)
    const nested = await call('countersign__call_tool', { name: 'notes__add', arguments: { a: 1, b: 1 } })
    assert.equal(nested.isError, true)
    const misasked = await client.callTool({ name: 'countersign__search_tools', arguments: { query: '' } })
    assert.equal(misasked.isError, true)
  })
}

test('what is shown may be told by client, by principal, or by what the list would cost', async (t) => {
  const count = async (exposure: string, name: string): Promise<number> => {
    const client = await clientOf(t, await open(t, exposure), name, 'legacy')
    const { tools } = await client.listTools()
    return tools.filter((tool) => tool.name.startsWith('notes__')).length
  }
  assert.equal(await count('{ clients: { small: search } }', 'small'), 0)
  assert.ok((await count('{ clients: { small: search } }', 'large')) >= 3)
  assert.ok((await count('{ mode: search, principals: { local: all } }', 'any')) >= 3)
  assert.equal(await count('{ mode: auto, tokens: 10 }', 'any'), 0)
  assert.ok((await count('{ mode: auto }', 'any')) >= 3)
})

test('with code a client is shown two tools, reads functions, and a program of it calls the real ones', async (t) => {
  const place = await open(t, '{ mode: code }')
  const client = await clientOf(t, place, 'a client', 'auto')
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name).filter((name) => !name.startsWith('countersign__operation_')),
    ['countersign__files', 'countersign__program'],
  )
  const run = (program: string) => client.callTool({ name: 'countersign__program', arguments: { program } })
  const file = await client.callTool({ name: 'countersign__files', arguments: { path: 'servers/notes/echo.ts' } })
  assert.match(textOf(file), /export function echo\({text: string}\)/)
  assert.match(textOf(await run(`return await servers.notes.echo({ text: 'hello' })`)), /^returned: "hello"\n1 calls/)
  const refused = textOf(await run(`await servers.notes.write_note({ name: 'a', text: 'b' })`))
  assert.match(refused, /^threw Refused in line 1: CONSENT_RULE_DENIES/)
  const doors = place.gateway.core.open.records({ limit: 50 }).filter((line) => line.includes('"door":"code"'))
  assert.ok(doors.length >= 2)
})

for (const mode of ['legacy', 'auto'] as const) {
  test(`a program of a client (${mode}) that cancels makes no further call`, async (t) => {
    const place = await open(t, '{ mode: code }')
    const client = await clientOf(t, place, 'a client', mode)
    const cancel = new AbortController()
    const program = 'for (let n = 0; n < 900; n++) await servers.notes.add({ a: n, b: 1 })'
    const running = client.callTool({ name: 'countersign__program', arguments: { program } }, { signal: cancel.signal })
    const made = () => place.gateway.core.open.size()
    const before = made()
    while (made() < before + 5) await new Promise((resolve) => setTimeout(resolve, 5))
    cancel.abort()
    await assert.rejects(running)
    // Until two looks see the same: what was under way has ended by then.
    let seen = -1
    while (seen !== made()) {
      seen = made()
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    assert.ok(made() < before + 700, `${made() - before} records`)
  })
}
