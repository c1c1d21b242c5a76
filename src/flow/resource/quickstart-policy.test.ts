import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Access, ScopeKind } from '../tool/profile.ts'
import { type Asking, CedarPolicies } from './policy.ts'
import { checkPolicies } from './policy-set.ts'

const text = readFileSync(new URL('../../../examples/quickstart/policy/quickstart.cedar', import.meta.url), 'utf8')
const policies = new CedarPolicies([{ file: 'quickstart.cedar', text }])

function ask(
  server: string,
  kind?: ScopeKind,
  access?: Access,
  root?: string,
  { id = 'local', hardLinked = false } = {},
): string {
  const asking: Asking = {
    principal: { id, kind: 'user', tenant: 'local', groups: [] },
    tool: {
      kind: 'tool',
      key: `${server}/t`,
      server,
      name: 't',
      profile: { effect: 'once', risk: 'high', declared: false },
    },
    proposal: { origin: { door: 'gateway' } },
  }
  if (kind === undefined || access === undefined) {
    const { kind: called } = policies.decide(asking, [], 1)
    assert.equal(policies.sees(asking.principal, asking.tool), called === 'permit')
    return called
  }
  const within = root === undefined ? [] : [root]
  const scope = { kind, access, value: '/q/x', within, ...(hardLinked ? { hardLinked: true as const } : {}) }
  return policies.decide(asking, [scope], 1).kind
}

test('the quickstart policies are without fault and without warning', () => {
  const checked = checkPolicies([{ file: 'quickstart.cedar', text }])
  assert.ok(checked.ok)
  assert.deepEqual(checked.warnings, [])
})

test('the quickstart lets its one user see and call the five servers, and nobody else anything', () => {
  for (const server of ['filesystem', 'memory', 'everything', 'weather', 'learning-notes']) {
    assert.equal(ask(server), 'permit')
    assert.equal(ask(server, undefined, undefined, undefined, { id: 'mallory' }), 'deny')
  }
  assert.equal(ask('another'), 'deny')
})

test('the quickstart reads the workspace and the notes, and writes in the workspace', () => {
  for (const access of ['read', 'list'] as const) {
    assert.equal(ask('filesystem', 'path', access, 'workspace'), 'permit')
    assert.equal(ask('learning-notes', 'path', access, 'notes'), 'permit')
    assert.equal(ask('filesystem', 'path', access, 'elsewhere'), 'deny')
    assert.equal(ask('filesystem', 'path', access), 'deny')
  }
  assert.equal(ask('filesystem', 'path', 'write', 'workspace'), 'permit')
  assert.equal(ask('learning-notes', 'path', 'write', 'notes'), 'deny')
  assert.equal(ask('filesystem', 'path', 'execute', 'workspace'), 'deny')
  assert.equal(ask('filesystem', 'path', 'read', 'workspace', { hardLinked: true }), 'deny')
})

test('the quickstart asks the weather, keeps the graph, and deletes nothing', () => {
  assert.equal(ask('weather', 'record', 'read'), 'permit')
  assert.equal(ask('learning-notes', 'literal', 'list'), 'permit')
  assert.equal(ask('memory', 'literal', 'write'), 'permit')
  assert.equal(ask('memory', 'literal', 'delete'), 'deny')
  assert.equal(ask('filesystem', 'path', 'delete', 'workspace'), 'deny')
  assert.equal(ask('everything', 'url', 'read'), 'deny')
})
