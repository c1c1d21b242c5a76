import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { Secret } from '../../src/words/secret.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { httpFixture, openApproved, tokenOf, until } from '../hostile/attack.ts'
import { callTool } from '../hostile/client.ts'

const tokens = ['b', 'c', 'd'].map((name) => `a-token-that-is-long-enough-${name}`)
const everybody = `
principals:
  - { id: bea, tenant: acme, tokenFile: ./token-0 }
  - { id: cid, tenant: acme, tokenFile: ./token-1 }
  - { id: dan, tenant: other, tokenFile: ./token-2 }
consent: { rules: [{ name: all passes, decision: allow }] }
`
const readTool = 'tools: { count: { effect: read } }'

async function open(t: TestContext, server: (site: Site) => string): Promise<Open> {
  const site = makeSite(t, (it) => {
    for (const [n, token] of tokens.entries()) writeFileSync(join(it.folder, `token-${n}`), token, { mode: 0o600 })
    return `${everybody}\nservers: { a: { ${server(it)}, ${readTool} } }\n`
  })
  const gateway = await openApproved(t, site)
  return { gateway, site, owner: tokenOf(site) }
}
interface Open {
  readonly gateway: RunningGateway
  readonly site: Site
  readonly owner: string
}

const counting = ({ folder }: Site, ...more: string[]): string =>
  `command: node, args: [${[fixture('counting'), '--pids', join(folder, 'pids'), ...more].join(', ')}]`
const pidsOf = ({ folder }: Site): number[] => readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number)

async function count(gateway: RunningGateway, token: string): Promise<string> {
  const { text, message } = await callTool(gateway, token, 'a__count', {})
  const content = (message['result'] as { content?: { text: string }[] } | undefined)?.content
  return content?.[0]?.text ?? text
}
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

for (const [name, ...args] of [['stdio'], ['HTTP', '--answers', 'json'], ['HTTP with streams', '--answers', 'sse']])
  test(`T5: what one principal leaves in a server no other finds, over ${name}`, async (t) => {
    const http = args.length === 0 ? undefined : await httpFixture(t, 'counting', ...args)
    const { gateway, owner } = await open(t, (site) =>
      http === undefined ? counting(site) : `url: '${http.reach.url}'`,
    )
    const [bea, , dan] = tokens as [string, string, string]
    const got: string[] = []
    for (const token of [owner, owner, bea, dan, owner, bea]) got.push(await count(gateway, token))
    assert.deepEqual(got, ['1', '2', '1', '1', '3', '2'])
  })

test('T5: a server that is declared shared has one process for all, and so has a modern one over HTTP', async (t) => {
  const { gateway, owner, site } = await open(t, (it) => `${counting(it)}, shared: true`)
  assert.deepEqual([await count(gateway, owner), await count(gateway, tokens[0]!)], ['1', '2'])
  assert.equal(pidsOf(site).length, 1)
  const modern = await httpFixture(t, 'counting', '--era', 'modern')
  const other = await open(t, () => `url: '${modern.reach.url}'`)
  await count(other.gateway, other.owner)
  await count(other.gateway, tokens[0]!)
  assert.equal(other.gateway.core.apart.get('a')!.figures.open, 0)
})

test('T5: processes of principals are bounded, the one that was idle longest makes room, and idle ones end', async (t) => {
  const { gateway, owner, site } = await open(t, (it) => `${counting(it)}, connections: 1, idle: 300ms`)
  const [bea, cid] = tokens as [string, string]
  assert.deepEqual([await count(gateway, owner), await count(gateway, bea)], ['1', '1'])
  assert.equal(await count(gateway, cid), '1')
  await until('the process of bea has ended', () => pidsOf(site).filter(alive).length <= 2)
  await until('that of cid has ended too', () => pidsOf(site).filter(alive).length === 1)
  assert.equal(gateway.core.apart.get('a')!.figures.open, 0)
  assert.equal(await count(gateway, owner), '2')
})

test('T5: a principal to whom the server says something else than what was approved is not served', async (t) => {
  const { gateway, owner } = await open(t, (it) => counting(it, '--second', join(it.folder, 'second')))
  assert.equal(await count(gateway, owner), '1')
  const said = await count(gateway, tokens[0]!)
  assert.match(said, /NOT_SENT[^]*to this principal the server describes it otherwise than it was approved/)
})

test('T5: the process of a principal that dies is made anew at the next call, and harms no other', async (t) => {
  const { gateway, owner, site } = await open(t, counting)
  assert.deepEqual([await count(gateway, owner), await count(gateway, tokens[0]!)], ['1', '1'])
  const [first, second] = pidsOf(site)
  process.kill(second!, 'SIGKILL')
  await until('it is gone', () => !alive(second!) && gateway.core.apart.get('a')!.figures.open === 0)
  assert.deepEqual([await count(gateway, tokens[0]!), await count(gateway, owner)], ['1', '2'])
  assert.ok(alive(first!))
})

test('what is no call goes by the connection of its own principal too, and is not ended under it', async (t) => {
  const { gateway, owner, site } = await open(t, (it) => `${counting(it)}, idle: 100ms`)
  await count(gateway, owner)
  const apart = gateway.core.apart.get('a')!
  const first = gateway.core.upstreams.get('a')!
  const lent = async (tenant: string, id: string) => (await apart.lend({ tenant, id }))!
  assert.equal((await lent('local', 'local')).upstream, first)
  const [bea, again, dan] = [await lent('acme', 'bea'), await lent('acme', 'bea'), await lent('other', 'dan')]
  assert.equal(again.upstream, bea.upstream)
  assert.equal(new Set([first, bea.upstream, dan.upstream]).size, 3)
  assert.equal(pidsOf(site).length, 3)
  dan.done()
  await until('its process is gone', () => !alive(pidsOf(site)[2]!))
  assert.ok(alive(pidsOf(site)[1]!))
  for (const one of [bea, again]) one.done()
  await until('its process is gone', () => !alive(pidsOf(site)[1]!))
})

test('who leaves while the list of a shared connection is read takes it from nobody else', async (t) => {
  const { gateway, owner } = await open(t, (it) => counting(it))
  await count(gateway, owner)
  const call = (signal: AbortSignal) =>
    gateway.core.flow.call(
      {
        target: { kind: 'tool', server: 'a', name: 'count' },
        arguments: { text: '{}' },
        origin: { door: 'gateway' },
        credential: { kind: 'bearer', token: new Secret(tokens[0]!) },
      },
      { consent: 'wait' },
      signal,
    )
  const leaving = new AbortController()
  const gone = call(leaving.signal)
  const stays = call(AbortSignal.timeout(20_000))
  leaving.abort()
  assert.notEqual((await gone).kind, 'answered')
  assert.equal((await stays).kind, 'answered')
})
