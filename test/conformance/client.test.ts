import assert from 'node:assert/strict'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { serveOn } from '../fixtures/conformance/served.ts'
import { drive, type Scenario } from './drive.ts'
import { assertFigures } from '../compatibility/page.ts'
import { compare, expectedOf, failuresOf, runSuite } from './suite.ts'

const program = join(import.meta.dirname, 'caller.ts')

for (const revision of ['2026-07-28', '2025-11-25'] as const) {
  test(`the client suite of ${revision} through the upstream side of the gateway`, async (t) => {
    const driver = await serveOn((request, response) => {
      text(request)
        .then((body) => drive(JSON.parse(body) as Scenario))
        .then(
          () => response.end(),
          (fault: unknown) => response.writeHead(500).end(`${String(fault)}\n`),
        )
    })
    t.after(() => driver.close())
    const command = `${process.execPath} ${program} ${driver.url}`
    const findings = await runSuite('client', revision, ['--command', command])
    t.diagnostic(`required: ${findings.passed.length} of ${findings.required.length}`)
    const { unexpected, stale } = compare(failuresOf(findings), expectedOf(`client ${revision}`))
    assert.ok(unexpected.length === 0, `not expected to fail:\n${unexpected.join('\n')}`)
    assert.ok(stale.length === 0, `expected to fail, and did not:\n${stale.join('\n')}`)
  })
}

test('docs/compatibility.md has the figures of the suite', assertFigures)
