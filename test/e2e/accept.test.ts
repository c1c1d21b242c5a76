import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Dimension } from '../../src/cli/accept/dimensions.ts'
import { approveOffered, fixture, makeSite, openGateway } from '../fixtures/site.ts'

const launcher = join(import.meta.dirname, '../../bin/countersign.mjs')

interface Report {
  readonly accepted: boolean
  readonly dimensions: readonly Dimension[]
}

test('the acceptance report of a gateway that works is met in every point that has to hold', async (t) => {
  const site = makeSite(
    t,
    ({ effects }) => `
servers:
  s:
    command: node
    args: [${JSON.stringify(fixture('honest'))}, --effects, ${JSON.stringify(effects)}]
    tools: { echo: { effect: read, risk: low }, write_note: { effect: once, risk: low } }
consent: { rules: [{ name: all, decision: allow }] }
`,
  )
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const call = (name: string, args: object) =>
    gateway.control.call(
      { target: { server: 's', name }, arguments: JSON.stringify(args), door: 'cli' },
      AbortSignal.timeout(20_000),
    )
  assert.equal((await call('echo', { text: 'a' })).kind, 'answered')
  assert.equal((await call('write_note', { name: 'n', text: 'x' })).kind, 'answered')
  assert.equal((await call('echo', { wrong: 1 })).kind, 'refused')
  const report = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const args = [launcher, '--config', site.config, '--home', site.home, 'accept', '--json']
    execFile(process.execPath, args, { env: { PATH: process.env['PATH'] } }, (fault, stdout, stderr) =>
      resolve({ code: Number(fault?.code ?? 0), stdout, stderr }),
    )
  })
  const { accepted, dimensions } = JSON.parse(report.stdout) as Report
  assert.equal(accepted, true, report.stdout + report.stderr)
  assert.equal(report.code, 0)
  assert.deepEqual(
    dimensions.map(({ name }) => name),
    ['interoperation', 'discovery', 'execution', 'security', 'cost', 'evidence'],
  )
  const standing = (what: string) =>
    dimensions.flatMap(({ findings }) => findings).find((it) => it.what === what)?.standing
  assert.equal(standing('servers are connected'), 'met')
  assert.equal(standing('the chain holds'), 'met')
  assert.equal(standing('no call went past a gate'), 'met')
  assert.equal(standing('records are whole'), 'met')
})
