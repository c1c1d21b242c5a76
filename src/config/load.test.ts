import assert from 'node:assert/strict'
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { undeclared } from '../flow/tool/profile.ts'
import { Secret } from '../words/secret.ts'
import { ConfigFault, type ConfigProblem } from './fault.ts'
import { loadConfig, parseConfig } from './load.ts'
import { configJsonSchema } from './schema.ts'

const file = '/srv/agent/countersign.yaml'
const parse = (text: string, environment = {}) => parseConfig(file, text, environment)

function problemsOf(text: string, environment = {}): readonly ConfigProblem[] {
  try {
    parse(text, environment)
  } catch (fault) {
    assert.ok(fault instanceof ConfigFault, String(fault))
    assert.equal(fault.code, 'CONFIG_INVALID')
    return fault.problems
  }
  throw new assert.AssertionError({ message: 'the configuration was taken' })
}

function onlyProblem(text: string, environment = {}): ConfigProblem {
  const problems = problemsOf(text, environment)
  assert.equal(problems.length, 1, inspect(problems))
  return problems[0]!
}

test('an empty file is a configuration with every default, and lets nothing through', () => {
  const config = parse('')
  assert.deepEqual(config.endpoint, {
    host: '127.0.0.1',
    port: 7420,
    revisions: [],
    allowedOrigins: [],
    allowedHosts: [],
  })
  assert.equal(config.policy, '/srv/agent/policy')
  assert.equal(config.lock, '/srv/agent/countersign.lock.yaml')
  assert.deepEqual(config.servers, [])
  assert.deepEqual(config.consent, { waitMs: 25_000, rules: [] })
  assert.deepEqual(config.limits, {
    argumentBytes: 1_048_576,
    argumentDepth: 64,
    resultBytes: 262_144,
    resultHardBytes: 16_777_216,
    unansweredCalls: 20,
    unansweredPause: 10_000,
    sessions: 1000,
    asksPerCall: 16,
    askBytes: 1_048_576,
    askWait: 300_000,
  })
  assert.deepEqual(config.ledger, { reads: 'grouped', repeatWindowMs: 600_000 })
})

test('an unknown key is an error at its own place, and names the nearest known key', () => {
  const problem = onlyProblem('endpoint:\n  host: 127.0.0.1\n  prot: 7420\n')
  assert.deepEqual(problem, {
    line: 3,
    column: 3,
    at: 'endpoint.prot',
    message: 'unknown key `prot`',
    hint: 'Did you mean `port`?',
    source: '  prot: 7420',
  })
})

test('a key in another style of writing is recognised, and one that is like nothing gets the list', () => {
  assert.equal(onlyProblem('limits: { argument-bytes: 1 }').hint, 'Did you mean `argumentBytes`?')
  assert.match(onlyProblem('limits: { zebra: 1 }').hint ?? '', /Known here: argumentBytes, /)
})

test('keys of a tool profile are checked as strictly as all others', () => {
  const problem = onlyProblem('servers:\n  s:\n    command: x\n    tools:\n      t:\n        efect: read\n')
  assert.equal(problem.line, 6)
  assert.equal(problem.column, 9)
  assert.equal(problem.hint, 'Did you mean `effect`?')
})

test('all problems are told at once, in the order of the file', () => {
  const problems = problemsOf('lock: 3\nlimits:\n  sessions: many\nconsent: { wait: 25 }\n')
  assert.deepEqual(
    problems.map((it) => [it.line, it.column, it.at, it.message]),
    [
      [1, 7, 'lock', 'expected text, found a number'],
      [3, 13, 'limits.sessions', 'expected a whole number from 1 to 100000'],
      [4, 18, 'consent.wait', 'expected a duration such as 500ms, 25s, 10m or 1h'],
    ],
  )
})

test('a missing key is told where the part stands that lacks it', () => {
  const problem = onlyProblem('consent:\n  rules:\n    - name: all\n')
  assert.deepEqual([problem.line, problem.column, problem.at], [3, 7, 'consent.rules[0].decision'])
  assert.equal(problem.message, '`decision` is missing; expected one of allow, ask, deny')
})

test('text that is no YAML is told with its place', () => {
  const problem = onlyProblem('servers:\n  a: 1\n  a: 2\n')
  assert.deepEqual([problem.line, problem.column, problem.message], [3, 3, 'Map keys must be unique'])
  assert.equal(onlyProblem('a: !!js/function x\n').line, 1)
  assert.equal(problemsOf('---\n---\n').length, 1)
})

test('an alias bomb is refused and not unfolded', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let n = 1; n < 9; n++)
    lines.push(
      `a${n}: &a${n} [${Array(10)
        .fill(`*a${n - 1}`)
        .join(', ')}]`,
    )
  assert.match(onlyProblem(lines.join('\n')).message, /larger or deeper/)
})

test('a key that would reach the prototype is refused', () => {
  assert.match(onlyProblem('servers:\n  __proto__: { command: x }\n').message, /no setting can have/)
})

test('a problem shows its line, but never a secret that stands in it', () => {
  const [problem] = problemsOf(
    'servers:\n  s:\n    url: https://example.org\n    headers:\n      Authorization: [Bearer hunter2]\n',
  )
  assert.equal(problem!.source, '      Authorization: …')
  assert.ok(!inspect(problem).includes('hunter2'))
  const fault = problemsOf('apiKey: hunter2\n')
  assert.ok(!inspect(fault).includes('hunter2'))
})

test('values from the environment and headers become secrets that do not print', () => {
  const text = `servers:
  a: { command: ./serve, env: { MODE: fast, GITHUB_TOKEN: literal, LEVEL: "\${LEVEL}" } }
  b: { url: "https://example.org/mcp", headers: { Authorization: "Bearer \${TOKEN}" } }
`
  const { servers } = parse(text, { TOKEN: 'hunter2', LEVEL: 'hunter3' })
  const [a, b] = servers.map((it) => it.spec.reach)
  assert.ok(a?.kind === 'stdio' && b?.kind === 'http')
  assert.equal(a.command, '/srv/agent/serve')
  assert.equal(a.env['MODE'], 'fast')
  assert.ok(a.env['GITHUB_TOKEN'] instanceof Secret)
  assert.ok(a.env['LEVEL'] instanceof Secret)
  assert.ok(b.headers['Authorization'] instanceof Secret)
  assert.equal(b.headers['Authorization'].reveal(), 'Bearer hunter2')
  const printed = inspect(servers, { depth: 9 }) + JSON.stringify(servers)
  assert.ok(!/hunter|literal/.test(printed))
})

test('a secret from the environment cannot be put where it would be shown', () => {
  const problem = onlyProblem('servers: { s: { command: x, args: ["--token=${GITHUB_TOKEN}"] } }', {
    GITHUB_TOKEN: 'hunter2',
  })
  assert.match(problem.message, /GITHUB_TOKEN looks like a secret/)
  assert.equal(problem.at, 'servers.s.args[0]')
})

test('an unknown variable is an error that names it', () => {
  const problem = onlyProblem('policy: ./policies/${STAGE}\n')
  assert.deepEqual([problem.line, problem.column, problem.at], [1, 9, 'policy'])
  assert.equal(problem.message, 'the environment variable STAGE is not set')
})

test('numbers may come from the environment, within the same bounds', () => {
  assert.equal(parse('endpoint: { port: "${PORT:-8080}" }').endpoint.port, 8080)
  assert.equal(parse('endpoint: { port: "${PORT:-8080}" }', { PORT: '9000' }).endpoint.port, 9000)
  assert.match(onlyProblem('endpoint: { port: "${PORT}" }', { PORT: '99999' }).message, /from 0 to 65535/)
})

test('a profile has the cautious default wherever it says nothing', () => {
  const { tools } = parse('servers: { s: { command: x, tools: { t: {} } } }').servers[0]!
  assert.deepEqual(tools.get('t'), { ...undeclared, declared: true })
})

test('a tool profile comes out as it was written, with quantities as numbers', () => {
  const text = `
roots: { work: . }
servers:
  s:
    command: x
    tools:
      get: { effect: read }
      put:
        effect: keyed
        risk: low
        scopes: [{ kind: path, from: /to, access: write, base: work, optional: true }]
        repeat: allow
        softDeadlineMs: 5s
        hardDeadlineMs: 60000
        definiteFailure: [{ at: /content/0/text, contains: refused }]
        verify: { tool: s/get, arguments: { id: { $argument: /id } }, expect: [{ at: /n, equals: 1 }], settleMs: 0, tries: 2, maxExecutionMs: 1m }
        maxResultBytes: 64KiB
        secrets: keep
`
  assert.deepEqual(parse(text).servers[0]!.tools.get('put'), {
    effect: 'keyed',
    risk: 'low',
    scopes: [{ kind: 'path', from: '/to', access: 'write', base: 'work', optional: true }],
    repeat: 'allow',
    softDeadlineMs: 5000,
    hardDeadlineMs: 60_000,
    trustRefusals: false,
    definiteFailure: [{ at: '/content/0/text', contains: 'refused' }],
    verify: {
      tool: 's/get',
      arguments: { id: { $argument: '/id' } },
      expect: [{ at: '/n', equals: 1 }],
      settleMs: 0,
      tries: 2,
      maxExecutionMs: 60_000,
    },
    maxResultBytes: 65_536,
    secrets: 'keep',
    declared: true,
  })
})

test('a read-back must name a tool that is declared to be a read', () => {
  const text = (effect: string) =>
    `servers: { s: { command: x, tools: { look: { effect: ${effect} }, do: { verify: { tool: s/look, arguments: {}, expect: [{ at: /a, exists: true }] } } } } }`
  parse(text('read'))
  assert.match(onlyProblem(text('once')).message, /`s\/look` is declared `once`/)
  assert.match(onlyProblem(text('read').replace('s/look', 's/lok')).hint ?? '', /`look`/)
})

test('names that are used twice or stand for nothing are problems', () => {
  const rules = 'consent: { rules: [{ name: a, decision: deny }, { name: a, decision: deny }] }'
  assert.equal(onlyProblem(rules).at, 'consent.rules[1].name')
  const scope =
    'servers: { s: { command: x, tools: { t: { scopes: [{ kind: path, from: /p, access: read, base: wrok }] } } } }\nroots: { work: . }'
  assert.equal(onlyProblem(scope).hint, 'Did you mean `work`?')
  const principal = `principals: [{ id: countersign, tenant: t, tokenSha256: ${'a'.repeat(64)} }]`
  assert.match(onlyProblem(principal).message, /Countersign itself/)
})

test('a token may expire: at a moment with a zone, and at nothing vaguer', () => {
  const principals = (expires: string) =>
    `principals: [{ id: a, tenant: t, tokenSha256: ${'a'.repeat(64)}, expires: ${expires} }]`
  const at = (text: string) => parse(principals(text)).principals[0]!.expiresAt
  assert.equal(at('2027-01-31T00:00:00Z'), Date.UTC(2027, 0, 31))
  assert.equal(at('2027-01-31T01:00:00+01:00'), Date.UTC(2027, 0, 31))
  for (const vague of ['2027-01-31', '2027-01-31T00:00:00', 'tomorrow', '2027-13-31T00:00:00Z', '30d', '1800000000'])
    assert.equal(onlyProblem(principals(vague)).at, 'principals[0].expires', vague)
})

test('content types that may pass are declared by tool, and are those that there are', () => {
  const tools = (types: string) => `servers: { s: { command: x, tools: { t: { contentTypes: ${types} }, u: {} } } }`
  assert.deepEqual([...parse(tools('[text, image]')).contentTypes!], [['s/t', ['text', 'image']]])
  assert.equal(parse(tools('[text]')).servers[0]!.tools.has('t'), true)
  for (const types of ['[]', '[txt]']) assert.match(onlyProblem(tools(types)).at, /contentTypes/)
})

test('a read-back looks as often as it says, and can say no more than it gets', () => {
  const verify = (tries: number) =>
    `servers: { s: { command: x, tools: { get: { effect: read }, t: { verify: { tool: s/get, arguments: {}, expect: [{ at: /n, exists: true }], tries: ${tries} } } } } }`
  assert.equal(parse(verify(5)).servers[0]!.tools.get('t')!.verify!.tries, 5)
  assert.match(onlyProblem(verify(6)).at, /verify\.tries/)
})

test('rules that nobody could answer, and an open address without names, are not taken', () => {
  assert.match(
    onlyProblem('consent: { rules: [{ name: a, decision: ask, channels: [] }] }').message,
    /nobody could ever answer/,
  )
  assert.match(
    onlyProblem('consent: { rules: [{ name: a, decision: ask, approvers: [] }] }').message,
    /let nobody answer/,
  )
  assert.match(onlyProblem('endpoint: { host: 0.0.0.0 }').message, /needs `allowedHosts`/)
  assert.equal(parse('endpoint: { host: 0.0.0.0, allowedHosts: [tools.example.org] }').endpoint.host, '0.0.0.0')
})

test('a server is a program or a URL, with what belongs to it', () => {
  assert.match(onlyProblem('servers: { s: {} }').message, /`command` \(a program\) or `url`/)
  assert.match(onlyProblem('servers: { s: { command: x, url: "https://e.org" } }').message, /not both/)
  assert.equal(onlyProblem('servers: { s: { url: "https://e.org", env: { A: b } } }').at, 'servers.s.env')
  assert.match(onlyProblem('servers: { s: { url: "https://u:p@e.org" } }').message, /without credentials/)
  assert.match(onlyProblem('servers: { a__b: { command: x } }').message, /single `_`/)
})

test('the identity of a server is equal on every machine and leaves secrets out', () => {
  const text = 'servers: { s: { command: node, args: [./main.js], env: { T: "${T}" } } }'
  const [one] = parseConfig('/a/countersign.yaml', text, { T: 'hunter2' }).servers
  const [other] = parseConfig('/b/countersign.yaml', text, { T: 'hunter3' }).servers
  assert.deepEqual(one!.identity, { command: 'node', args: ['./main.js'], cwd: '.', env: ['T'] })
  assert.deepEqual(one!.identity, other!.identity)
  assert.equal(one!.spec.reach.kind === 'stdio' && one!.spec.reach.command, process.execPath)
})

test('the version of a named package is part of the identity', () => {
  const here = new URL('../../examples/quickstart/countersign.yaml', import.meta.url).pathname
  const text = 'servers: { s: { command: node, package: "@modelcontextprotocol/server-filesystem" } }'
  const { version } = JSON.parse(
    readFileSync(
      new URL('../../node_modules/@modelcontextprotocol/server-filesystem/package.json', import.meta.url),
      'utf8',
    ),
  ) as { version: string }
  assert.equal(parseConfig(here, text, {}).servers[0]!.identity['version'], version)
  assert.equal(parseConfig(file, text, {}).servers[0]!.identity['version'], 'not installed')
})

test('a file that is missing, no UTF-8 or a folder is told as such', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'countersign-config-'))
  const missing = join(folder.path, 'nowhere.yaml')
  assert.throws(() => loadConfig(missing, {}), { code: 'CONFIG_MISSING', hint: /countersign init/ })
  assert.throws(() => loadConfig(folder.path, {}), { code: 'CONFIG_MISSING' })
  writeFileSync(missing, Buffer.from([0x61, 0x3a, 0xff]))
  assert.throws(() => loadConfig(missing, {}), { code: 'CONFIG_INVALID', message: /not UTF-8/ })
})

test('the configuration cannot be changed once it is loaded', () => {
  const config = parse('roots: { a: . }\nservers: { s: { command: x, tools: { t: {} } } }')
  assert.throws(() => Object.assign(config.limits, { sessions: 9 }), TypeError)
  assert.throws(() => Object.assign(config.servers[0]!.tools.get('t')!, { effect: 'read' }), TypeError)
})

test('the quick start is a configuration without a fault', () => {
  const config = loadConfig(new URL('../../examples/quickstart/countersign.yaml', import.meta.url).pathname, {})
  assert.deepEqual(
    config.servers.map((it) => it.spec.name),
    ['weather', 'learning-notes', 'filesystem', 'everything', 'memory'],
  )
})

test('schema/countersign.schema.json is what `node scripts/schema.ts` would write', () => {
  const kept = readFileSync(new URL('../../schema/countersign.schema.json', import.meta.url), 'utf8')
  assert.equal(kept, `${JSON.stringify(configJsonSchema(), null, 2)}\n`)
})
