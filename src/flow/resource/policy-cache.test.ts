import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Acquaintance, Acquaintances, type PolicyPrincipal, type PolicyTool } from './acquaintance.ts'
import { Recent } from './decision-cache.ts'
import { type Asking, CedarPolicies } from './policy.ts'
import type { Scope } from './scoped.ts'

const principal: PolicyPrincipal = { id: 'ada', kind: 'user', tenant: 'home', groups: ['staff', 'night'] }
const tool: PolicyTool = {
  kind: 'tool',
  key: 'files/read',
  server: 'files',
  name: 'read',
  profile: { effect: 'read', risk: 'low', declared: true },
}
const asking: Asking = { principal, tool, proposal: { origin: { door: 'gateway' } } }
const scope: Scope = { kind: 'path', value: '/w/a', access: 'read', within: ['work', 'all'] }

/** Every attribute that a request carries, each changed by itself, and a condition that tells the change. */
const changes: Record<string, [Asking, Scope, string]> = {
  'principal id': [{ ...asking, principal: { ...principal, id: 'bo' } }, scope, 'principal.id == "ada"'],
  'principal kind': [{ ...asking, principal: { ...principal, kind: 'service' } }, scope, 'principal.kind == "user"'],
  tenant: [{ ...asking, principal: { ...principal, tenant: 'away' } }, scope, 'principal in Tenant::"home"'],
  'tenant as an attribute': [
    { ...asking, principal: { ...principal, tenant: 'away' } },
    scope,
    'principal.tenant == "home"',
  ],
  groups: [{ ...asking, principal: { ...principal, groups: ['staff'] } }, scope, 'principal in Group::"night"'],
  'another group': [
    { ...asking, principal: { ...principal, groups: ['staff', 'day'] } },
    scope,
    'principal in Group::"night"',
  ],
  'tool key': [{ ...asking, tool: { ...tool, key: 'files/write' } }, scope, 'resource == Tool::"files/read"'],
  server: [{ ...asking, tool: { ...tool, server: 'other' } }, scope, 'resource in Server::"files"'],
  'server as an attribute': [{ ...asking, tool: { ...tool, server: 'other' } }, scope, 'resource.server == "files"'],
  name: [{ ...asking, tool: { ...tool, name: 'write' } }, scope, 'resource.name == "read"'],
  'kind of capability': [{ ...asking, tool: { ...tool, kind: 'prompt' } }, scope, 'resource.kind == "tool"'],
  effect: [
    { ...asking, tool: { ...tool, profile: { ...tool.profile, effect: 'once' } } },
    scope,
    'resource.effect == "read"',
  ],
  risk: [{ ...asking, tool: { ...tool, profile: { ...tool.profile, risk: 'high' } } }, scope, 'resource.risk == "low"'],
  declared: [
    { ...asking, tool: { ...tool, profile: { ...tool.profile, declared: false } } },
    scope,
    'resource.declared',
  ],
  door: [{ ...asking, proposal: { origin: { door: 'code' } } }, scope, 'context has door && context.door == "gateway"'],
  'door at a scope': [
    { ...asking, proposal: { origin: { door: 'code' } } },
    scope,
    '!(context has scope) || context.door == "gateway"',
  ],
  'scope kind': [asking, { ...scope, kind: 'record' }, '!(context has scope) || context.scope.kind == "path"'],
  'scope value': [asking, { ...scope, value: '/w/b' }, '!(context has scope) || context.scope.value == "/w/a"'],
  within: [asking, { ...scope, within: ['all'] }, '!(context has scope) || context.scope.within.contains("work")'],
  hardLinked: [asking, { ...scope, hardLinked: true }, '!(context has scope) || !context.scope.hardLinked'],
  access: [asking, { ...scope, access: 'write' }, 'action != Action::"write"'],
}

for (const [what, [changed, touched, condition]] of Object.entries(changes)) {
  test(`a decision is not reused when the ${what} differs`, () => {
    const text = `permit (principal, action, resource) when { ${condition} };`
    const policies = new CedarPolicies([{ file: `${what}.cedar`, text }])
    for (let round = 0; round < 3; round++) {
      assert.equal(policies.decide(asking, [scope], 1).kind, 'permit')
      assert.equal(policies.decide(changed, [touched], 1).kind, 'deny')
    }
    if (what.startsWith('door') || touched !== scope) return
    const seen = new CedarPolicies([{ file: `${what}.cedar`, text }])
    assert.equal(seen.sees(asking.principal, asking.tool), true)
    assert.equal(seen.sees(changed.principal, changed.tool), false)
    assert.equal(seen.sees(asking.principal, asking.tool), true)
  })
}

test('what is decided stays bound to the attributes and not to the objects that carried them', () => {
  const policies = new CedarPolicies([
    { file: 'p.cedar', text: 'permit (principal, action, resource) when { resource.risk == "low" };' },
  ])
  const profile: { effect: 'read'; risk: 'low' | 'high'; declared: boolean } = {
    effect: 'read',
    risk: 'low',
    declared: true,
  }
  const groups: string[] = []
  const moving: Asking = { ...asking, principal: { ...principal, groups }, tool: { ...tool, profile } }
  assert.equal(policies.decide(moving, [], 1).kind, 'permit')
  profile.risk = 'high'
  assert.equal(policies.decide(moving, [], 1).kind, 'deny')
})

test('texts that run together in one key are still two', () => {
  const policies = new CedarPolicies([
    {
      file: 'p.cedar',
      text: 'permit (principal, action == Action::"call", resource); permit (principal, action == Action::"read", resource) when { context.scope.within.contains("a") };',
    },
  ])
  assert.equal(policies.decide(asking, [{ ...scope, value: '1', within: ['a'] }], 1).kind, 'permit')
  assert.equal(policies.decide(asking, [{ ...scope, value: '11:a', within: [] }], 1).kind, 'deny')
  assert.equal(policies.decide(asking, [{ ...scope, value: '1', within: ['1:a'] }], 1).kind, 'deny')
  assert.equal(policies.decide(asking, [{ ...scope, within: ['a', 'b'] }], 1).kind, 'permit')
  assert.equal(policies.decide(asking, [{ ...scope, within: ['ab'] }], 1).kind, 'deny')
})

test('a decision made is handed out again, for this version of the catalogue only', () => {
  const policies = new CedarPolicies([{ file: 'p.cedar', text: 'permit (principal, action, resource);' }])
  const first = policies.decide(asking, [], 1)
  assert.equal(policies.decide({ ...asking, principal: { ...principal }, tool: { ...tool } }, [], 1), first)
  const later = policies.decide(asking, [], 2)
  assert.notEqual(later, first)
  assert.deepEqual(later, first)
})

test('what was used longest ago is dropped first', () => {
  const dropped: number[] = []
  const recent = new Recent<string, number>(2, (gone) => dropped.push(gone))
  recent.set('a', 1)
  recent.set('b', 2)
  assert.equal(recent.get('a'), 1)
  recent.set('c', 3)
  assert.deepEqual([recent.get('a'), recent.get('b'), recent.get('c'), recent.size], [1, undefined, 3, 2])
  recent.set('a', 4)
  assert.deepEqual([recent.get('a'), recent.size, dropped], [4, 2, [2]])
})

test('pairs are bounded in number, and a dropped one is met anew', () => {
  const pairs = new Acquaintances<never>(3)
  const of = (id: string, key = 'files/read'): Acquaintance<never> => pairs.of({ ...principal, id }, { ...tool, key })
  const first = of('a')
  assert.equal(of('a'), first)
  for (const id of ['b', 'c', 'd']) of(id)
  const again = of('a')
  assert.notEqual(again, first)
  assert.notEqual(again.number, first.number)
  assert.equal(of('d'), of('d'))
  const user = pairs.of({ ...principal, id: 'd' }, tool)
  const service = pairs.of({ ...principal, id: 'd', kind: 'service' }, tool)
  assert.notEqual(user, service)
  assert.equal(pairs.of({ ...principal, id: 'd' }, tool), user)
})
