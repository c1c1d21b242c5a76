import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDigest } from '../../words/digest.ts'
import { CedarPolicies } from './policy.ts'
import { type PolicyText, checkPolicies, loadPolicies } from './policy-set.ts'

const check = (...texts: (string | PolicyText)[]) =>
  checkPolicies(texts.map((text, n) => (typeof text === 'string' ? { file: `p${n}.cedar`, text } : text)))

function messages(...texts: (string | PolicyText)[]): readonly string[] {
  const checked = check(...texts)
  assert.ok(!checked.ok)
  return checked.messages
}

const ANY = 'permit (principal, action, resource);'

test('good policies are counted, and their version is a digest of files and texts in any order', () => {
  const one = { file: 'a.cedar', text: ANY }
  const two = { file: 'b.cedar', text: `// two\n${ANY}\n${ANY}` }
  const checked = check(one, two)
  assert.ok(checked.ok && isDigest(checked.version))
  assert.equal(checked.policies, 3)
  const versionOf = (...texts: PolicyText[]) => loadPolicies(texts).version
  assert.equal(versionOf(two, one), checked.version)
  assert.notEqual(versionOf(one), checked.version)
  assert.notEqual(versionOf(one, { ...two, text: `${two.text} ` }), checked.version)
  assert.notEqual(versionOf(one, { ...two, file: 'c.cedar' }), checked.version)
})

test('no policies are no fault: they permit nothing', () => {
  assert.deepEqual({ ...check(), version: '' }, { ok: true, version: '', policies: 0, warnings: [] })
})

test('a fault of syntax is named by file and line', () => {
  const [first, ...rest] = messages({
    file: 'mail.cedar',
    text: `// größe\n${ANY}\npermit (principal, action,\nresource) when { resource.name = "x" };`,
  })
  assert.match(first!, /^mail\.cedar:4: .*'=' is not a valid operator/)
  assert.deepEqual(rest, [])
})

test('an attribute, an action or an entity type that does not exist is a fault, named by file and line', () => {
  assert.match(
    messages(
      `${ANY}\n// größe\n\npermit (principal, action, resource)\nwhen { "é" == resource.name && resource.colour == "red" };`,
    )[0]!,
    /^p0\.cedar:5: .*`colour`/,
  )
  assert.match(messages('permit (principal, action == Action::"raed", resource);')[0]!, /unrecognized action/)
  assert.match(messages('permit (principal is Admin, action, resource);')[0]!, /Admin/)
  assert.match(
    messages('permit (principal, action == Action::"call", resource) when { context.scope.kind == "path" };')[0]!,
    /`scope`/,
  )
  assert.match(
    messages('permit (principal, action == Action::"see", resource) when { context.door == "cli" };')[0]!,
    /`door`/,
  )
  assert.match(messages('permit (principal, action, resource) when { principal.id == 1 };')[0]!, /p0\.cedar:1/)
})

test('a scope may be read where `has` makes sure of it', () => {
  assert.ok(
    check('forbid (principal, action, resource) when { context has scope && context.scope.value like "*x*" };').ok,
  )
})

test('a policy that can never apply is a warning', () => {
  const checked = check(`${ANY}\nforbid (principal, action, resource) when { "a" == "b" };`)
  assert.ok(checked.ok)
  assert.match(checked.warnings[0]!, /^p0\.cedar:2: .*impossible/)
})

test('a template is a fault, since nothing would ever link it', () => {
  assert.deepEqual(messages('permit (principal == ?principal, action, resource);'), [
    'p0.cedar: a template, which nothing would link',
  ])
})

test('a text that is not well-formed Unicode is a fault and not an exception', () => {
  assert.deepEqual(messages(`${ANY} // \ud800`), ['p0.cedar: not well-formed Unicode'])
})

test('one fault anywhere and none of the policies counts', () => {
  const all = messages(ANY, 'oops', 'permit (')
  assert.equal(all.length, 2)
  assert.match(all[0]!, /^p1\.cedar:1: /)
  assert.match(all[1]!, /^p2\.cedar:1: /)
})

test('policies are known by their @id or by file and line, in the order of the text', () => {
  const text = Array.from({ length: 12 }, (_, n) => `permit (principal == User::"u${n}", action, resource);`).join('\n')
  const policies = new CedarPolicies([{ file: 'many.cedar', text: `${text}\n@id("the last")\n${ANY}` }])
  for (const n of [0, 1, 9, 10, 11]) {
    const answer = policies.decide(
      {
        principal: { id: `u${n}`, kind: 'user', tenant: 't', groups: [] },
        tool: {
          kind: 'tool',
          key: 's/n',
          server: 's',
          name: 'n',
          profile: { effect: 'read', risk: 'low', declared: true },
        },
        proposal: { origin: { door: 'cli' } },
      },
      [],
      1,
    )
    assert.deepEqual(answer, { kind: 'permit', policies: [`many.cedar:${n + 1}`, 'the last'] })
  }
})

test('policies on one line are told apart by their number in the file', () => {
  assert.ok(check(`${ANY} ${ANY}\n${ANY} ${ANY}`).ok)
  assert.match(messages(`${ANY} ${ANY} permit (principal, action, resource.x);`)[0]!, /^p0\.cedar:1: /)
  const [unknown] = messages(`${ANY} permit (principal, action == Action::"raed", resource);`)
  assert.match(unknown!, /^p0\.cedar:1: for policy `p0\.cedar:1#2`/)
})

test('two policies of one id are a fault, and odd ids are names like any other', () => {
  assert.deepEqual(messages(`@id("x") ${ANY}`, `@id("x") ${ANY}`), [
    'p1.cedar: the id "x" is taken by a policy of p0.cedar',
  ])
  for (const id of ['__proto__', 'constructor', '1', 'policy0', 'ü "quoted"'.replaceAll('"', '\\"')]) {
    const checked = check(`@id("${id}") ${ANY}\n${ANY}`)
    assert.ok(checked.ok, id)
    assert.equal(checked.policies, 2)
  }
})
