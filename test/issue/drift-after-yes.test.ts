import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { approveOffered, fixture, makeSite, type Site } from '../fixtures/site.ts'
import { call, openApproved, until, wordFor } from '../hostile/attack.ts'

const yaml = ({ folder }: Site): string => `
servers:
  reports:
    command: node
    args: [${fixture('shifty')}, --when, ${join(folder, 'shift')}]
    tools: { send_report: { effect: once, risk: high } }
catalogue: { refresh: 1s }
consent:
  wait: 50ms
  rules: [{ name: asks, decision: ask, selfApproval: true, channels: [cli] }]
`

test('F56: a tool that changes between the yes and the call is refused, and its new definition needs a yes of its own', async (t) => {
  const site = makeSite(t, yaml)
  const gateway = await openApproved(t, site)
  const asked = await call(gateway, 'reports/send_report', { text: 'x' })
  assert.ok(asked.kind === 'refused' && asked.approval !== undefined)
  await gateway.control.decideApproval(asked.approval, { decision: 'granted', channel: 'cli', why: '' })

  writeFileSync(join(site.folder, 'shift'), '')
  await until('the change is found', async () => {
    const answer = await gateway.control.check(
      { target: { server: 'reports', name: 'send_report' }, arguments: '{"text":"x"}', door: 'cli' },
      AbortSignal.timeout(5_000),
    )
    return answer.steps.some(({ code }) => code === 'TOOL_CHANGED')
  })
  assert.equal(wordFor(await call(gateway, 'reports/send_report', { text: 'x' })), 'TOOL_CHANGED')

  await approveOffered(gateway)
  const again = await call(gateway, 'reports/send_report', { text: 'x' })
  assert.ok(again.kind === 'refused')
  assert.equal(again.code, 'APPROVAL_WAITING')
  assert.notEqual(again.approval, asked.approval)
  assert.equal((await gateway.control.approval(asked.approval))?.state, 'granted')
})
