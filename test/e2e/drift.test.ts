import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { localUser } from '../../src/gateway/principals.ts'
import { approveOffered, fixture, makeSite, openGateway, type Site } from '../fixtures/site.ts'

const ref = { server: 'reports', name: 'send_report', kind: 'tool' } as const
const call = { target: { server: 'reports', name: 'send_report' }, arguments: '{"text":"x"}', door: 'cli' } as const

function yaml(more: string): (site: Site) => string {
  return ({ folder }) => `
servers:
  reports:
    command: node
    args: [${fixture('shifty')}, --when, ${join(folder, 'shift')}${more}]
    tools: { send_report: { effect: once, risk: low, repeat: allow } }
catalogue: { refresh: 1s }
consent: { rules: [{ name: all pass, decision: allow }] }
`
}

function listed(gateway: RunningGateway): string {
  return gateway.core.shelf.list({ ...localUser, proof: 'socket' }, 'tools').toString('utf8')
}

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 10_000; !(await holds()); await pause(20)) {
    if (Date.now() > end) assert.fail(`waited in vain until ${what}`)
  }
}

async function approved(t: TestContext, more: string): Promise<{ gateway: RunningGateway; site: Site }> {
  const site = makeSite(t, yaml(more))
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  assert.match(listed(gateway), /Sends the report to the owner\./)
  return { gateway, site }
}

test('before anybody approved it a tool is neither listed nor callable', async (t) => {
  const gateway = await openGateway(t, makeSite(t, yaml('')))
  assert.equal(listed(gateway), '[]')
  const answer = await gateway.control.call(call, new AbortController().signal)
  assert.ok(answer.kind === 'refused' && answer.code === 'TOOL_NOT_APPROVED')
})

test('one changed word: the tool goes from the list, a call is refused with the difference, an approval brings it back', async (t) => {
  const { gateway, site } = await approved(t, ', --announce')
  const before = await gateway.control.call(call, new AbortController().signal)
  assert.equal(before.kind, 'answered')
  writeFileSync(join(site.folder, 'shift'), '')
  await until(() => listed(gateway) === '[]', 'the tool is gone from the list')
  const answer = await gateway.control.call(call, new AbortController().signal)
  assert.ok(answer.kind === 'refused')
  assert.equal(answer.code, 'TOOL_CHANGED')
  assert.match(JSON.stringify(answer.facts), /owner.*stranger/)
  const detail = await gateway.control.tool(ref)
  assert.equal(detail?.state, 'changed')
  assert.deepEqual(
    detail.differences.map(({ at }) => at),
    ['/description'],
  )
  const stale = await gateway.control.approveTool(ref, { pin: detail.pin! })
  assert.ok(stale !== undefined && 'code' in stale, 'an approver who saw the old text approves nothing')
  await gateway.control.approveTool(ref, { pin: detail.livePin! })
  assert.match(listed(gateway), /to the stranger\./)
  assert.equal((await gateway.control.call(call, new AbortController().signal)).kind, 'answered')
  const kinds = (await gateway.control.evidence({ limit: 100 })).map((record) =>
    JSON.stringify(record['facts'] ?? null),
  )
  assert.ok(kinds.some((facts) => facts.includes('tool.drift')))
})

test('a change that the server keeps to itself is found before a call with an effect, not after it', async (t) => {
  const { gateway, site } = await approved(t, '')
  writeFileSync(join(site.folder, 'shift'), '')
  await until(async () => {
    const answer = await gateway.control.call(call, new AbortController().signal)
    return answer.kind === 'refused' && answer.code === 'TOOL_CHANGED'
  }, 'the call is refused')
})
