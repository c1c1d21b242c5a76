import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tools } from '../fixtures/conformance/content.ts'
import { serveLegacy } from '../fixtures/conformance/legacy.ts'
import { serveModern } from '../fixtures/conformance/modern.ts'
import { serveTasks, taskTools } from '../fixtures/conformance/tasks.ts'
import { approveOffered, makeSite, openGateway } from '../fixtures/site.ts'
import { doorwayTo } from './doorway.ts'
import { assertFigures } from '../compatibility/page.ts'
import { compare, expectedOf, failuresOf, runSuite } from './suite.ts'

const fixtures = { modern: serveModern, legacy: serveLegacy } as const
const revisions = ['2026-07-28', '2025-11-25'] as const

// The suite calls the same tools with the same arguments over and over.
function profiles(all: readonly { readonly name: string }[]): object {
  return Object.fromEntries(all.map(({ name }) => [name, { repeat: 'allow', risk: 'low' }]))
}

/** The address of a gateway in front of one upstream, for clients that know no tokens. */
async function gatewayBefore(t: TestContext, upstream: string, tasks?: string): Promise<string> {
  const site = makeSite(t, () =>
    JSON.stringify({
      roots: { here: '.' },
      servers: {
        fixture: {
          url: upstream,
          naming: 'bare',
          asks: { elicitation: ['form', 'url'], sampling: 'client', roots: ['here'] },
          resources: 'allow',
          prompts: 'allow',
          tools: profiles(tools as readonly { name: string }[]),
        },
        ...(tasks !== undefined && { tasks: { url: tasks, naming: 'bare', tools: profiles(taskTools) } }),
      },
      consent: { rules: [{ name: 'the suite may call', decision: 'allow' }] },
    }),
  )
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const doorway = await doorwayTo(gateway.url, readFileSync(join(site.home, 'token'), 'utf8').trim())
  t.after(() => doorway.close())
  return doorway.url
}

for (const era of ['modern', 'legacy'] as const) {
  for (const revision of revisions) {
    test(`the server suite of ${revision} through the gateway before a ${era} upstream`, async (t) => {
      const fixture = await fixtures[era]()
      t.after(() => fixture.close())
      const tasks = await serveTasks()
      t.after(() => tasks.close())
      const url = await gatewayBefore(t, fixture.url, tasks.url)
      const findings = await runSuite('server', revision, ['--url', url])
      t.diagnostic(`required: ${findings.passed.length} of ${findings.required.length}`)
      const expected = expectedOf(`server ${revision}, ${era} upstream`)
      const { unexpected, stale } = compare(failuresOf(findings), expected)
      assert.ok(unexpected.length === 0, `not expected to fail:\n${unexpected.join('\n')}`)
      assert.ok(stale.length === 0, `expected to fail, and did not:\n${stale.join('\n')}`)
    })
  }
}

test('docs/compatibility.md has the figures of the suite', assertFigures)
