import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CatalogueSite, ada, toolNamed } from '../../../../test/fixtures/catalogue.ts'
import type { Principal } from '../../../flow/principal/principal.ts'
import { CedarPolicies } from '../../../flow/resource/policy.ts'
import { LiveSources } from '../live-sources.ts'
import { PreparedShelf } from '../prepared-shelf.ts'
import { ToolSearch, textOf } from './tool-search.ts'
import { answerText } from './verbs.ts'

const NOW = Date.parse('2026-11-30T12:00:00.000Z')
const servers = ['alpha', 'beta', 'gamma']
/** A mark that stands in everything that is said of one tool, and nowhere else. */
const mark = (server: string, n: number): string => `${server}mark${n}x`
const all = servers.flatMap((server) =>
  Array.from({ length: 8 }, (_, n) => ({ server, n, name: `do_${mark(server, n)}` })),
)

async function catalogueOf(site: CatalogueSite) {
  for (const server of servers) {
    const tools = all
      .filter((tool) => tool.server === server)
      .map(({ n, name }) =>
        toolNamed(name, {
          description: `Reads the file ${mark(server, n)} and sends a message about ${mark(server, n)}.`,
        }),
      )
    const prompts = all.filter((tool) => tool.server === server).map(({ name }) => ({ name: `ask_${name}` }))
    site.add(server, { tools: [tools], prompts: [prompts] })
  }
  const catalogue = await site.open()
  catalogue.approve(
    all.flatMap(({ server, name }) => [{ key: `${server}/${name}` }, { key: `${server}/prompts/ask_${name}` }]),
    'ada',
    NOW,
  )
  return catalogue
}

/** What each of three people may see and call, tool by tool and server by server; some policies forbid again. */
const people: readonly Principal[] = ['ada', 'bob', 'eve'].map((id) => ({ ...ada, id }))
const clause = fc.record({
  effect: fc.constantFrom('permit', 'permit', 'forbid'),
  who: fc.constantFrom(...people.map(({ id }) => id)),
  what: fc.oneof(
    fc.constantFrom(...servers.map((server) => `resource in Server::"${server}"`)),
    fc.constantFrom(...all.map(({ server, name }) => `resource == Tool::"${server}/${name}"`)),
  ),
  action: fc.constantFrom('Action::"see"', 'Action::"call"', 'both'),
})

test('no tool that may not be called shows in a list, a search, a description or a completion, under random policies', async () => {
  await using site = new CatalogueSite()
  const catalogue = await catalogueOf(site)
  const requests = [
    'read the file',
    'send a message',
    ...all.slice(0, 6).map(({ name }) => name),
    'alphamark1x betamark2x gammamark3x',
  ]
  let [hidden, shown] = [0, 0]
  await fc.assert(
    fc.asyncProperty(fc.array(clause, { minLength: 1, maxLength: 12 }), async (clauses) => {
      const text = clauses
        .map(({ effect, who, what, action }) => {
          const actions = action === 'both' ? 'action in [Action::"see", Action::"call"]' : `action == ${action}`
          return `${effect} (principal == User::"${who}", ${actions}, resource) when { ${what} };`
        })
        .join('\n')
      const policies = new CedarPolicies([{ file: 'random', text }])
      assert.equal(policies.checked.ok, true, text)
      const shelf = new PreparedShelf(catalogue, policies)
      const search = new ToolSearch(catalogue, policies)
      const sources = new LiveSources(
        catalogue,
        (server) => {
          const upstream = site.upstreams.get(server)
          return Promise.resolve(upstream && ({ upstream, done: () => {} } as never))
        },
        policies,
      )
      for (const principal of people) {
        const secret = all.filter(({ server, name }) => {
          const { tool } = catalogue.show(`${server}/${name}`)!
          return !policies.sees(principal, tool!)
        })
        hidden += secret.length
        const names = all.flatMap(({ server, name }) => [`${server}/${name}`, `${server}__${name}`])
        const said = [
          shelf.list(principal, 'tools').toString('utf8'),
          ...search.describe(principal, names).map((tool) => textOf(tool, 'schema')),
        ]
        for (const request of requests) {
          for (const detail of ['name', 'declaration', 'schema'] as const) {
            const answer = await search.search(
              principal,
              { request, limit: 20, detail, unsure: true, tokens: 20_000 },
              AbortSignal.timeout(5_000),
            )
            shown += answer.matches.length
            assert.equal(answer.searched, all.length - secret.length)
            said.push(answerText(answer), ...answer.matches.map(({ key }) => key))
          }
        }
        for (const { server, name } of all) {
          const seen = policies.sees(principal, catalogue.show(`${server}/prompts/ask_${name}`)!.tool!)
          const ref = { type: 'ref/prompt', name: `${server}__ask_${name}` } as const
          const argument = { name: 'x', value: '' }
          const completed = await sources.complete(principal, { ref, argument }, AbortSignal.timeout(5_000))
          assert.equal(completed !== undefined, seen, `${principal.id} completes ${ref.name}`)
        }
        const everything = said.join('\n')
        for (const { server, n } of secret)
          assert.ok(!everything.includes(mark(server, n)), `${principal.id} is told of ${server} ${n}`)
      }
      search.close()
    }),
    { numRuns: 40 },
  )
  assert.ok(hidden > 500 && shown > 500, `${hidden} hidden, ${shown} shown`)
})

test('a search follows approvals, drift and policies', async () => {
  await using site = new CatalogueSite()
  const catalogue = await catalogueOf(site)
  const sight = { version: 'v1', sees: () => true }
  const search = new ToolSearch(catalogue, sight)
  const find = async (request: string) =>
    (await search.search(ada, { request, unsure: true }, AbortSignal.timeout(5_000))).matches.map(({ key }) => key)
  const key = `beta/do_${mark('beta', 3)}`
  assert.equal((await find(mark('beta', 3)))[0], key)
  catalogue.quarantine([key], 'ada', NOW)
  assert.ok(!(await find(mark('beta', 3))).includes(key))
  catalogue.approve([{ key }], 'ada', NOW)
  assert.equal((await find(mark('beta', 3)))[0], key)
  sight.sees = () => false
  sight.version = 'v2'
  assert.deepEqual(await find(mark('beta', 3)), [])
  search.close()
})
