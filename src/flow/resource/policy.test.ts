import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Door } from '../proposal/proposal.ts'
import type { PolicyPrincipal, PolicyTool } from './acquaintance.ts'
import { type Asking, CedarPolicies } from './policy.ts'
import type { Scope } from './scoped.ts'

interface Given {
  readonly principal?: Partial<PolicyPrincipal>
  readonly tool?: Partial<Omit<PolicyTool, 'profile'>>
  readonly profile?: Partial<PolicyTool['profile']>
  readonly door?: Door
}

function asking({ principal, tool, profile, door = 'gateway' }: Given = {}): Asking {
  return {
    principal: { id: 'ada', kind: 'user', tenant: 'home', groups: ['staff'], ...principal },
    tool: {
      kind: 'tool',
      key: 'files/read',
      server: 'files',
      name: 'read',
      profile: { effect: 'read', risk: 'low', declared: true, ...profile },
      ...tool,
    },
    proposal: { origin: { door } },
  }
}

const scope = (more: Partial<Scope> = {}): Scope => ({
  kind: 'path',
  value: '/w/a',
  access: 'read',
  within: ['work'],
  ...more,
})
const policiesOf = (text: string) => new CedarPolicies([{ file: 'p.cedar', text }])
const ANY = 'permit (principal, action, resource);'

test('without policies nothing is permitted and nothing is seen', () => {
  const none = new CedarPolicies([])
  assert.deepEqual(none.decide(asking(), [], 1), { kind: 'deny', policies: [], scope: undefined })
  assert.equal(none.sees(asking().principal, asking().tool), false)
})

test('the call and every scope have to be permitted, and the answer names the policies', () => {
  const policies = policiesOf(`
    @id("call") permit (principal, action == Action::"call", resource);
    @id("read") permit (principal, action == Action::"read", resource) when { context.scope.within.contains("work") };`)
  assert.deepEqual(policies.decide(asking(), [], 1), { kind: 'permit', policies: ['call'] })
  assert.deepEqual(policies.decide(asking(), [scope(), scope({ value: '/w/b' })], 1), {
    kind: 'permit',
    policies: ['call', 'read'],
  })
  const elsewhere = scope({ value: '/x', within: ['archive'] })
  assert.deepEqual(policies.decide(asking(), [scope(), elsewhere], 1), { kind: 'deny', policies: [], scope: elsewhere })
  const write = scope({ access: 'write' })
  assert.deepEqual(policies.decide(asking(), [write, scope()], 1), { kind: 'deny', policies: [], scope: write })
})

test('a permitted scope does not make up for a call that is not permitted', () => {
  const policies = policiesOf('permit (principal, action == Action::"read", resource);')
  assert.deepEqual(policies.decide(asking(), [scope()], 1), { kind: 'deny', policies: [], scope: undefined })
})

test('a forbid beats every permit and is named', () => {
  const policies = policiesOf(
    `${ANY}\n@id("no") forbid (principal, action, resource) when { resource.risk == "high" };`,
  )
  assert.equal(policies.decide(asking(), [], 1).kind, 'permit')
  assert.deepEqual(policies.decide(asking({ profile: { risk: 'high' } }), [], 1), {
    kind: 'deny',
    policies: ['no'],
    scope: undefined,
  })
})

test('policies with a fault permit nothing: every decision is an error with the reason', () => {
  for (const text of ['oops', 'permit (principal, action, resource) when { resource.colour == "red" };']) {
    const policies = policiesOf(`${ANY}\n${text}`)
    const answer = policies.decide(asking(), [], 1)
    assert.ok(answer.kind === 'error' && answer.messages[0]!.startsWith('p.cedar:2: '), JSON.stringify(answer))
    assert.equal(policies.sees(asking().principal, asking().tool), false)
  }
})

test('a policy that fails while it is evaluated is an error, though Cedar skips it and allows', () => {
  const policies = policiesOf(
    `${ANY}\n@id("sum") forbid (principal, action, resource) when { 9223372036854775807 + 1 == 0 };`,
  )
  const answer = policies.decide(asking(), [scope()], 1)
  assert.ok(answer.kind === 'error' && answer.messages[0]!.startsWith('sum: integer overflow'), JSON.stringify(answer))
  assert.equal(policies.sees(asking().principal, asking().tool), false)
})

test('a request that does not fit the schema is an error', () => {
  const odd = asking({ profile: { effect: 1 as never } })
  assert.equal(policiesOf(ANY).decide(odd, [], 1).kind, 'error')
  assert.equal(policiesOf(ANY).decide(asking(), [scope({ access: 'admin' as never })], 1).kind, 'error')
})

test('names that look like Cedar stay names', () => {
  const policies = policiesOf(`
    permit (principal == User::"ada", action, resource);
    permit (principal in Group::"admins", action, resource);
    permit (principal, action, resource in Server::"open");
    permit (principal, action == Action::"read", resource) when { context.scope.value == "ok" };`)
  for (const evil of [
    'x" || User::"ada',
    'ada"\n',
    '"ada"',
    'User::"ada"',
    'Group::"admins"',
    'x"] in Server::"open',
    '\u0000ada',
    'ada\\',
    '{"__entity":{"type":"User","id":"ada"}}',
    '__proto__',
  ]) {
    const as = asking({
      principal: { id: evil, tenant: evil, groups: [evil] },
      tool: { key: `${evil}/${evil}`, server: evil, name: evil },
    })
    assert.deepEqual(policies.decide(as, [], 1), { kind: 'deny', policies: [], scope: undefined }, JSON.stringify(evil))
  }
  const named = policiesOf('permit (principal == User::"x\\" || User::\\"ada", action, resource);')
  assert.equal(named.decide(asking({ principal: { id: 'x" || User::"ada' } }), [], 1).kind, 'permit')
  assert.equal(named.decide(asking(), [], 1).kind, 'deny')
})

test('a name that is not well-formed Unicode is an error, and not the name that it would be shown as', () => {
  const policies = policiesOf('permit (principal == User::"a\ufffd", action, resource);')
  assert.equal(policies.decide(asking({ principal: { id: 'a\ufffd' } }), [], 1).kind, 'permit')
  assert.equal(policies.decide(asking({ principal: { id: 'a\ud800' } }), [], 1).kind, 'error')
})

test('a tool is seen where it may be seen and may be called by some door', () => {
  const { principal, tool } = asking()
  const see = 'permit (principal, action == Action::"see", resource);'
  assert.equal(policiesOf(ANY).sees(principal, tool), true)
  assert.equal(policiesOf(see).sees(principal, tool), false)
  assert.equal(policiesOf('permit (principal, action == Action::"call", resource);').sees(principal, tool), false)
  assert.equal(
    policiesOf(
      `${see} permit (principal, action == Action::"call", resource) when { context.door == "library" };`,
    ).sees(principal, tool),
    true,
  )
  assert.equal(
    policiesOf(`${ANY} forbid (principal, action == Action::"call", resource);`).sees(principal, tool),
    false,
  )
})

test('new policies decide anew, and the old set goes on as it was', () => {
  const before = policiesOf(ANY)
  const after = policiesOf(`${ANY}\nforbid (principal, action, resource);`)
  assert.notEqual(before.version, after.version)
  assert.equal(after.decide(asking(), [], 1).kind, 'deny')
  assert.equal(before.decide(asking(), [], 1).kind, 'permit')
})

test('a policy can tell a call that uses what a result named, and what was decided for one is not taken for the other', () => {
  const policies = policiesOf(`${ANY}
    @id("followed") forbid (principal, action == Action::"write", resource) when { context.tainted };
    @id("after orders") forbid (principal, action == Action::"call", resource) when { context.suspect && resource.effect != "read" };`)
  const write = scope({ access: 'write' })
  const tainted = { tainted: true, untrusted: true, suspect: false, values: ['host:x'] }
  assert.equal(policies.decide(asking(), [write], 1).kind, 'permit')
  assert.deepEqual(policies.decide(asking(), [write], 1, tainted), {
    kind: 'deny',
    policies: ['followed'],
    scope: write,
  })
  assert.equal(policies.decide(asking(), [write], 1).kind, 'permit')
  const suspect = { tainted: false, untrusted: true, suspect: true, values: [] }
  assert.equal(policies.decide(asking(), [], 1, suspect).kind, 'permit')
  assert.equal(policies.decide(asking({ profile: { effect: 'once' } }), [], 1, suspect).kind, 'deny')
})
