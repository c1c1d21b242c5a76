import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { workshop } from './cli.fixture.ts'

const page = readFileSync(new URL('../../docs/policy.md', import.meta.url), 'utf8')
const documented = /^```yaml cases\n([\s\S]*?)^```$/m.exec(page)![1]!

const policies = `
permit (principal in Group::"support", action in [Action::"see", Action::"call", Action::"write"], resource);
@id("not after pages") forbid (principal, action == Action::"write", resource) when { context.tainted };
`

function place(cases: string) {
  const shop = workshop()
  mkdirSync(join(shop.folder, 'next'))
  writeFileSync(join(shop.folder, 'next', 'a.cedar'), policies)
  writeFileSync(join(shop.folder, 'cases.yaml'), cases)
  return shop
}

test('the cases of docs/policy.md are answered as they expect', async () => {
  using shop = place(documented)
  const { code, stdout, stderr } = await shop.run(['policy', 'test', 'cases.yaml', '--policy', 'next'])
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, /✓ support reads tickets: permit/)
  assert.match(stdout, /✓ nobody writes where a web page said so: deny \(not after pages\)/)
})

test('an answer that is not the expected one is told, with the exit code of a refusal', async () => {
  using shop = place(documented.replace('[tainted]', '[]'))
  const { code, stdout } = await shop.run(['policy', 'test', 'cases.yaml', '--policy', 'next', '--json'])
  assert.equal(code, 3)
  const { wrong, judged } = JSON.parse(stdout) as { wrong: number; judged: readonly { found: string }[] }
  assert.equal(wrong, 1)
  assert.equal(judged[1]?.found, 'permit')
})

test('who may not see a tool, policies with a fault, and a case that is none', async () => {
  using shop = place(`- { name: a, principal: { id: x }, tool: crm/find, expect: unseen }`)
  assert.equal((await shop.run(['policy', 'test', 'cases.yaml', '--policy', 'next'])).code, 0)
  writeFileSync(join(shop.folder, 'cases.yaml'), `- { name: a, principal: { id: x }, tool: crm, expect: unseen }`)
  const bad = await shop.run(['policy', 'test', 'cases.yaml', '--policy', 'next'])
  assert.equal(bad.code, 2)
  assert.match(bad.stderr, /cases\.yaml: 0\.tool: expected SERVER\/TOOL/)
  writeFileSync(join(shop.folder, 'next', 'b.cedar'), 'permit (')
  assert.equal((await shop.run(['policy', 'test', 'cases.yaml', '--policy', 'next'])).code, 2)
})
