import assert from 'node:assert/strict'
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { canonical } from '../../words/canonical.ts'
import { digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import { type ScopeExtractor, undeclared } from '../tool/profile.ts'
import type { ApprovedTool, Catalogue, Selected } from '../tool/selected.ts'
import { resource } from './index.ts'
import { CedarPolicies } from './policy.ts'
import { ScopeResolver } from './resolver.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-gate-')))
after(() => rmSync(top, { recursive: true }))
const work = join(top, 'work')
mkdirSync(join(work, '.countersign'), { recursive: true })
writeFileSync(join(work, 'a.md'), 'text')
writeFileSync(join(top, 'secret'), 'secret')
symlinkSync(join(top, 'secret'), join(work, 'link'))
linkSync(join(top, 'secret'), join(work, 'hard'))

const scopes = new ScopeResolver([{ name: 'work', path: work }], [join(work, '.countersign')])
const catalogue: Catalogue = { version: 1, find: () => ({ state: 'unknown' }), refresh: () => undefined }
const policies = new CedarPolicies([
  {
    file: 'gate.cedar',
    text: `
      @id("call") permit (principal, action in [Action::"see", Action::"call"], resource);
      @id("read") permit (principal, action in [Action::"read", Action::"list"], resource);
      @id("not at night") forbid (principal, action == Action::"call", resource) when { principal.id == "night" };`,
  },
])

function select(given: JsonObject, extractors: readonly ScopeExtractor[], principal = 'ada'): Selected {
  const text = canonical(given)
  const tool: ApprovedTool = {
    kind: 'tool',
    key: 'files/read',
    server: 'files',
    name: 'read',
    exportedName: 'files__read',
    pin: digest('pin'),
    serverIdentity: digest('identity'),
    serverVersion: '1',
    definition: {},
    profile: { ...undeclared, scopes: extractors, declared: true },
    checkArguments: () => [],
  }
  return {
    tool,
    principal: { id: principal, kind: 'user', tenant: 'home', groups: [], proof: 'token' },
    proposal: {
      id: 'prp_1',
      target: { kind: 'tool', server: 'files', name: 'read' },
      arguments: given,
      canonical: text,
      digest: digest(text),
      origin: { door: 'gateway' },
      traceId: '0'.repeat(32),
      receivedAt: 0,
    },
  }
}

const judge = (selected: Selected, by = policies) => {
  const verdict = resource.judge(selected, { scopes, policies: by, catalogue }, AbortSignal.timeout(1000))
  assert.ok(!(verdict instanceof Promise))
  return verdict
}
const path = (access: ScopeExtractor['access'] = 'read'): ScopeExtractor => ({
  kind: 'path',
  from: '/path',
  access,
  base: 'work',
})

test('a call that touches nothing that was declared passes with the digest of no scopes', () => {
  const verdict = judge(select({}, []))
  assert.ok(verdict.kind === 'pass')
  assert.deepEqual(verdict.next.scopes, [])
  assert.equal(verdict.next.scopesDigest, digest(canonical([])))
  assert.deepEqual(verdict.facts, {
    scopes: [],
    scopesDigest: digest('[]'),
    policies: ['call'],
    policyVersion: policies.version,
  })
})

test('what passes is bound: scopes, their digest and the version of the policies', () => {
  const selected = select({ path: 'a.md' }, [path()])
  const verdict = judge(selected)
  assert.ok(verdict.kind === 'pass')
  const bound = [{ kind: 'path', access: 'read', value: join(work, 'a.md'), within: ['work'] }]
  assert.deepEqual(verdict.next, {
    ...selected,
    scopes: bound,
    scopesDigest: digest(canonical(bound)),
    policyVersion: policies.version,
  })
  assert.deepEqual(verdict.facts['scopes'], bound)
  assert.deepEqual(verdict.facts['policies'], ['call', 'read'])
})

test('two spellings of one place are one scope, and another place is another digest', () => {
  const paths: ScopeExtractor[] = [{ kind: 'path', from: '/paths/*', access: 'read', base: 'work' }]
  const digestOf = (...all: string[]) => {
    const verdict = judge(select({ paths: all }, paths))
    assert.ok(verdict.kind === 'pass')
    return verdict.next.scopesDigest
  }
  assert.equal(digestOf('a.md', './a.md', join(work, 'a.md')), digestOf('a.md'))
  assert.notEqual(digestOf('a.md'), digestOf('b.md'))
})

test('a path outside is refused with what and where, and without what lies out there', () => {
  for (const given of ['link', '../secret', join(top, 'secret'), '/etc/passwd']) {
    assert.deepEqual(judge(select({ path: given }, [path()])), {
      kind: 'refuse',
      code: 'SCOPE_OUTSIDE',
      facts: { scope: 'path', at: '/path', because: 'it lies in none of the declared roots', given, roots: ['work'] },
    })
  }
})

test("no policy opens the gateway's own files", () => {
  const all = new CedarPolicies([{ file: 'all.cedar', text: 'permit (principal, action, resource);' }])
  const verdict = judge(select({ path: '.countersign/ledger.db' }, [path('write')]), all)
  assert.ok(verdict.kind === 'refuse' && verdict.code === 'SCOPE_OUTSIDE')
  assert.match(JSON.stringify(verdict.facts), /no policy opens/)
})

test('a refusal shows what it was given on one line, and never a URL', () => {
  const odd = judge(select({ path: `a\u202e\n${'x'.repeat(500)}` }, [path()]))
  assert.ok(odd.kind === 'refuse' && odd.code === 'SCOPE_UNSAFE')
  assert.match(odd.facts['given'] as string, /^a\\u\{202e\}\\nx{1,160}…$/)
  const url = judge(
    select({ url: 'https://me:secret@h.test/?token=t' }, [{ kind: 'url', from: '/url', access: 'read' }]),
  )
  assert.ok(url.kind === 'refuse' && url.code === 'SCOPE_UNSAFE')
  assert.doesNotMatch(JSON.stringify(url), /secret|token/)
})

test('a query is judged and digested, and does not go on the record', () => {
  const verdict = judge(select({ url: 'https://h.test/?token=t' }, [{ kind: 'url', from: '/url', access: 'read' }]))
  assert.ok(verdict.kind === 'pass')
  assert.equal(verdict.next.scopes[0]!.value, 'https://h.test/?token=t')
  assert.deepEqual(verdict.facts['scopes'], [{ kind: 'url', access: 'read', value: 'https://h.test/?…' }])
})

test('an unreadable argument is refused with its pointer', () => {
  assert.deepEqual(judge(select({}, [path()])), {
    kind: 'refuse',
    code: 'SCOPE_UNREADABLE',
    facts: { scope: 'path', at: '/path', because: 'it is missing' },
  })
})

test('a scope that no policy permits is refused with the action and the scope', () => {
  assert.deepEqual(judge(select({ path: 'a.md' }, [path('write')])), {
    kind: 'refuse',
    code: 'POLICY_DENIED',
    facts: {
      action: 'write',
      scope: { kind: 'path', access: 'write', value: join(work, 'a.md'), within: ['work'] },
      policies: [],
      policyVersion: policies.version,
      scopes: [{ kind: 'path', access: 'write', value: join(work, 'a.md'), within: ['work'] }],
    },
  })
})

test('a call that a policy forbids is refused with the policy', () => {
  assert.deepEqual(judge(select({}, [], 'night')), {
    kind: 'refuse',
    code: 'POLICY_DENIED',
    facts: { action: 'call', policies: ['not at night'], policyVersion: policies.version, scopes: [] },
  })
})

test('policies with a fault refuse every call and say why', () => {
  const broken = new CedarPolicies([{ file: 'broken.cedar', text: 'permit (' }])
  const verdict = judge(select({}, []), broken)
  assert.ok(verdict.kind === 'refuse' && verdict.code === 'POLICY_ERROR')
  assert.match((verdict.facts['messages'] as string[])[0]!, /^broken\.cedar:1: /)
  assert.equal(verdict.facts['policyVersion'], broken.version)
})

test('a hard link is marked on the record when it is read, and is not written', () => {
  const read = judge(select({ path: 'hard' }, [path()]))
  assert.ok(read.kind === 'pass')
  assert.equal((read.facts['scopes'] as JsonObject[])[0]!['hardLinked'], true)
  const write = judge(select({ path: 'hard' }, [path('write')]))
  assert.ok(write.kind === 'refuse' && write.code === 'SCOPE_UNSAFE')
})

test('the record shows the first of many scopes, and the digest covers all', () => {
  const paths = Array.from({ length: 40 }, (_, n) => `f${n}`)
  const extractors: ScopeExtractor[] = [{ kind: 'path', from: '/paths/*', access: 'read', base: 'work' }]
  const verdict = judge(select({ paths }, extractors))
  assert.ok(verdict.kind === 'pass')
  assert.equal(verdict.next.scopes.length, 40)
  assert.equal((verdict.facts['scopes'] as unknown[]).at(-1), 'and 24 more')
})

test('every kind of scope reaches the policies', () => {
  const verdict = judge(
    select({ repo: 'o/n', table: 'public.users', id: 7, host: 'H.test:8443' }, [
      { kind: 'repo', from: '/repo', access: 'read' },
      { kind: 'table', from: '/table', access: 'list' },
      { kind: 'record', from: '/id', access: 'read' },
      { kind: 'host', from: '/host', access: 'read' },
      { kind: 'literal', from: 'graph', access: 'read' },
      { kind: 'path', from: '/path', access: 'read', optional: true },
    ]),
  )
  assert.ok(verdict.kind === 'pass')
  assert.deepEqual(
    verdict.next.scopes.map(({ kind, value }) => `${kind} ${value}`),
    ['repo o/n', 'table public.users', 'record 7', 'host h.test:8443', 'literal graph'],
  )
})

test('roots and own files are given as absolute paths, and roots have names of their own', () => {
  assert.throws(() => new ScopeResolver([{ name: 'work', path: 'work' }], []), /not an absolute path: work/)
  assert.throws(() => new ScopeResolver([], ['.countersign']), /not an absolute path/)
  assert.throws(
    () =>
      new ScopeResolver(
        [
          { name: 'a', path: '/a' },
          { name: 'a', path: '/b' },
        ],
        [],
      ),
    /two roots/,
  )
})
