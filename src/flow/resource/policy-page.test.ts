import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Door } from '../proposal/proposal.ts'
import type { Access, EffectClass, ScopeKind } from '../tool/profile.ts'
import { accesses } from './cedar-schema.ts'
import { type Asking, CedarPolicies } from './policy.ts'
import { checkPolicies } from './policy-set.ts'
import type { Scope } from './scoped.ts'

const page = readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/^```cedar\n([^]*?)^```\n\n((?:\|.*\n)+)/gm)].map(([, text, table]) => ({
  text: text!,
  rows: table!.trim().split('\n').slice(2),
}))

test('docs/policy.md has examples, and each is a complete policy set', () => {
  assert.equal(examples.length, page.match(/^```cedar$/gm)?.length)
  assert.ok(examples.length >= 4)
  for (const { text } of examples) {
    const checked = checkPolicies([{ file: 'docs/policy.md', text }])
    assert.ok(checked.ok, JSON.stringify(checked))
    assert.deepEqual(checked.warnings, [])
  }
})

for (const [n, { text, rows }] of examples.entries()) {
  const policies = new CedarPolicies([{ file: 'docs/policy.md', text }])
  for (const row of rows) {
    test(`example ${n + 1} of docs/policy.md answers as it says: ${row}`, () => {
      const [who, action, what, context, answer] = row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      assert.equal(ask(policies, who!, action!.replaceAll('`', ''), what!, context!.replaceAll('`', '')), answer)
    })
  }
}

function ask(policies: CedarPolicies, who: string, action: string, what: string, context: string): string {
  const [, type, id, tenant = 'home', groups = ''] = /^`(\w+)::"(\w+)"`(?: of `(\w+)`, (.*))?$/.exec(who)!
  const [, server, name, effect = 'once'] = /^`([\w-]+)\/([\w-]+)`(?: \(`(\w+)`\))?$/.exec(what)!
  const asking: Asking = {
    principal: {
      id: id!,
      kind: type === 'User' ? 'user' : 'service',
      tenant,
      groups: [...groups.matchAll(/`(\w+)`/g)].map((group) => group[1]!),
    },
    tool: {
      kind: 'tool',
      key: `${server}/${name}`,
      server: server!,
      name: name!,
      profile: { effect: effect as EffectClass, risk: 'low', declared: true },
    },
    proposal: { origin: { door: (/^\w+$/.test(context) ? context : 'gateway') as Door } },
  }
  if (action === 'see') return policies.sees(asking.principal, asking.tool) ? 'permit' : 'deny'
  if (action === 'call') return policies.decide(asking, [], 1).kind
  assert.ok(accesses.includes(action as Access))
  const [, kind, value, root, linked] = /^(\w+) (\S+)(?: in (\w+))?(, hard-linked)?$/.exec(context)!
  const scope: Scope = {
    kind: kind as ScopeKind,
    value: value!,
    access: action as Access,
    within: root === undefined ? [] : [root],
    ...(linked === undefined ? {} : { hardLinked: true as const }),
  }
  const answer = policies.decide(asking, [scope], 1)
  // Of a row about a scope, the scope is what decides, and not the call.
  if (answer.kind === 'deny') assert.equal(answer.scope, scope)
  return answer.kind
}
