import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkPolicies } from '../flow/resource/policy-set.ts'
import { parseConfig } from '../config/load.ts'
import { launcher, workshop } from './cli.fixture.ts'
import { exits } from './exits.ts'
import { commands } from './program.ts'
import { starterConfig, starterPolicy } from './starter.ts'

const config = (shop: { folder: string }, text: string) => writeFileSync(join(shop.folder, 'countersign.yaml'), text)

test('the version is data, and JSON where that is asked for', async () => {
  using shop = workshop()
  const plain = await shop.run(['version'])
  assert.match(plain.stdout, /^countersign \d+\.\d+\.\d+ \(Node v\d+/)
  const json = await shop.run(['version', '--json'])
  assert.equal((JSON.parse(json.stdout) as { node: string }).node, process.version)
  assert.deepEqual([plain.code, json.code, json.stderr], [exits.done, exits.done, ''])
})

test('help names every command, and each command has help with an example or a sentence', async () => {
  using shop = workshop()
  const { stdout, code } = await shop.run(['--help'])
  assert.equal(code, exits.done)
  for (const name of Object.keys(commands)) assert.match(stdout, new RegExp(`^  ${name} `, 'm'))
  for (const name of Object.keys(commands)) {
    const help = await shop.run([name, '--help'])
    assert.equal(help.code, exits.done, name)
    assert.match(help.stdout, new RegExp(`^Usage: countersign ${name}`), name)
    assert.match(help.stdout, /--config <file>/, name)
  }
})

test('help is a command too, and a fault points to the help of the command that was meant', async () => {
  using shop = workshop()
  assert.match((await shop.run(['help'])).stdout, /^Usage: countersign /)
  for (const words of ['call', 'approval approve']) {
    const { code, stdout } = await shop.run(['help', ...words.split(' ')])
    assert.equal(code, exits.done)
    assert.match(stdout, new RegExp(`^Usage: countersign ${words} `))
  }
  assert.equal((await shop.run(['help', 'nothing'])).code, exits.usage)
  assert.match((await shop.run(['approval', 'approve'])).stderr, /See `countersign approval approve --help`/)
})

test('through npm a command acts where it was typed', async () => {
  using shop = workshop()
  mkdirSync(join(shop.folder, 'mine'))
  const env = { npm_lifecycle_event: 'countersign', INIT_CWD: join(shop.folder, 'mine') }
  assert.equal((await shop.run(['init'], { env })).code, exits.done)
  assert.ok(existsSync(join(shop.folder, 'mine', 'countersign.yaml')))
  assert.ok(!existsSync(join(shop.folder, 'countersign.yaml')))
})

test('a home that may not be written is told as that, and not as evidence that was tampered with', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root may write everywhere')
  using shop = workshop()
  await shop.run(['init'])
  const home = join(shop.folder, '.countersign')
  chmodSync(home, 0o500)
  try {
    const { stdout, code } = await shop.run(['doctor'])
    assert.equal(code, exits.fault)
    assert.match(stdout, /home +.*cannot be read and written[^]*chmod -R u\+w/)
    assert.doesNotMatch(stdout, /tampered/)
  } finally {
    chmodSync(home, 0o700)
  }
})

test('help loads nothing but what describes the commands', () => {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (process._rawDebug(url), next(url, context)) })`
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, launcher, '--help'],
    { encoding: 'utf8' },
  )
  assert.equal(status, exits.done)
  const packages = new Set([...stderr.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(([, name]) => name))
  assert.deepEqual([...packages], ['commander'])
  assert.ok(!/src\/(config|mcp|store|model|cli\/commands)\//.test(stderr), stderr)
})

test('what means nothing is exit code 2, with the word that was meant', async () => {
  using shop = workshop()
  const command = await shop.run(['stauts'])
  assert.deepEqual([command.code, command.stdout], [exits.usage, ''])
  assert.match(
    command.stderr,
    /^countersign: USAGE: unknown command 'stauts' \(Did you mean status\?\)\. See `countersign --help`\.\n$/,
  )
  const option = await shop.run(['tool', 'list', '--sever', 'x', '--json'])
  assert.equal(option.code, exits.usage)
  const fault = JSON.parse(option.stderr) as Record<string, string>
  assert.deepEqual([fault['kind'], fault['code']], ['fault', 'USAGE'])
  assert.match(fault['message']!, /--server/)
  for (const args of [
    ['call'],
    ['tool', 'diff'],
    ['call', 'a/b', '--arg', 'x'],
    ['up', '--port', '70000'],
    ['run', 'task'],
  ])
    assert.equal(
      (await shop.run([...args, '--home', shop.folder])).code,
      args[0] === 'up' ? exits.fault : exits.usage,
      args.join(' '),
    )
})

test('a faulty configuration is told with its place, its line and what was meant', async () => {
  using shop = workshop()
  config(shop, 'endpoint:\n  prot: 7420\n')
  const told = await shop.run(['config', 'validate'])
  assert.deepEqual([told.code, told.stdout], [exits.fault, ''])
  const [first, ...rest] = told.stderr.split('\n')
  assert.match(
    first!,
    /^countersign: CONFIG_INVALID: .*countersign\.yaml:2:3: endpoint\.prot: unknown key `prot`\. Did you mean `port`\?$/,
  )
  assert.deepEqual(rest.slice(1, 3), ['  2 │   prot: 7420', '    │   ^'])
  const json = await shop.run(['config', 'validate', '--json'])
  const { code, problems } = JSON.parse(json.stderr) as { code: string; problems: { line: number; column: number }[] }
  assert.deepEqual([code, problems[0]!.line, problems[0]!.column], ['CONFIG_INVALID', 2, 3])
})

test('the configuration in force is shown without its secrets', async () => {
  using shop = workshop()
  config(shop, 'servers: { s: { url: "https://example.org/mcp", headers: { Authorization: "Bearer ${TOKEN}" } } }\n')
  for (const args of [
    ['config', 'show'],
    ['config', 'show', '--json'],
  ]) {
    const { stdout, stderr, code } = await shop.run(args, { env: { TOKEN: 'hunter2' } })
    assert.equal(code, exits.done)
    assert.match(stdout, /\[secret\]/)
    assert.match(stdout, /7420/)
    assert.ok(!(stdout + stderr).includes('hunter2'))
  }
})

test('init makes a configuration that is valid and a home that is closed, and changes nothing the second time', async () => {
  using shop = workshop()
  const first = await shop.run(['init'])
  assert.equal(first.code, exits.done)
  assert.equal((statSync(join(shop.folder, '.countersign')).mode & 0o777).toString(8), '700')
  const token = readFileSync(join(shop.folder, '.countersign', 'token'), 'utf8').trim()
  assert.ok(!(first.stdout + first.stderr).includes(token), 'the token itself is never printed')
  assert.ok(existsSync(join(shop.folder, 'policy', 'local.cedar')))
  assert.equal((await shop.run(['config', 'validate'])).code, exits.done)
  writeFileSync(join(shop.folder, 'countersign.yaml'), 'endpoint: { port: 0 }\n')
  const second = await shop.run(['init', '--json'])
  assert.deepEqual((JSON.parse(second.stdout) as { made: string[] }).made, [])
  assert.equal(readFileSync(join(shop.folder, 'countersign.yaml'), 'utf8'), 'endpoint: { port: 0 }\n')
})

test('what init writes can be used as it is, and with its examples taken in', () => {
  const file = '/srv/agent/countersign.yaml'
  parseConfig(file, starterConfig('./schema.json'), {})
  const [before, after] = starterConfig(undefined).split('servers: {}')
  const whole = `${before}servers:${after!.replaceAll(/^#/gm, '')}`
  const { servers } = parseConfig(file, whole, { EXAMPLE_TOKEN: 'x' })
  assert.deepEqual(
    servers.map(({ spec }) => spec.name),
    ['files', 'remote'],
  )
  const checked = checkPolicies([{ file: 'local.cedar', text: starterPolicy }])
  assert.ok(checked.ok, JSON.stringify(checked))
  assert.deepEqual(checked.warnings, [])
})

test('a policy folder of one’s own is not added to', async () => {
  using shop = workshop()
  mkdirSync(join(shop.folder, 'policy'))
  writeFileSync(join(shop.folder, 'policy', 'mine.cedar'), '')
  await shop.run(['init'])
  assert.ok(!existsSync(join(shop.folder, 'policy', 'local.cedar')))
})

test('where nothing runs and nothing is configured, that is said with what to do', async () => {
  using shop = workshop()
  const bare = await shop.run(['status'])
  assert.deepEqual([bare.code, bare.stdout], [exits.usage, ''])
  assert.match(bare.stderr, /countersign init/)
  await shop.run(['init'])
  const status = await shop.run(['status'])
  assert.equal(status.code, exits.fault)
  assert.match(
    status.stderr,
    /^countersign: GATEWAY_UNREACHABLE: no gateway runs here\. Start one with `countersign up`\.\n$/,
  )
  assert.equal((await shop.run(['stop'])).stdout, 'No gateway runs here.\n')
})

test('evidence that is missing is a fault, and what is no evidence cannot be judged', async () => {
  using shop = workshop()
  assert.equal((await shop.run(['evidence', 'verify', 'nowhere.jsonl'])).code, exits.fault)
  writeFileSync(join(shop.folder, 'other.jsonl'), '{"format":"something else"}\n')
  const { code, stdout } = await shop.run(['evidence', 'verify', 'other.jsonl', '--json'])
  assert.equal(code, exits.unjudgeable)
  assert.equal((JSON.parse(stdout) as { verdict: string }).verdict, 'unjudgeable')
})

test('doctor says what is wrong and how to mend it', async () => {
  using shop = workshop()
  config(shop, 'servers: { s: { command: ./missing, sandbox: none } }\n')
  const before = await shop.run(['doctor', '--json'])
  assert.equal(before.code, exits.fault)
  const found = (JSON.parse(before.stdout) as { findings: { what: string; result: string; fix?: string }[] }).findings
  assert.deepEqual(
    found.map(({ what, result }) => [what, result]),
    [
      ['node', 'ok'],
      ['configuration', 'ok'],
      ['server s', 'fail'],
      ['policy', 'fail'],
      ['sandbox', 'warn'],
      ['home', 'warn'],
    ],
  )
  for (const { result, fix } of found) assert.equal(fix === undefined, result === 'ok')
  config(shop, '{}\n')
  await shop.run(['init'])
  const after = await shop.run(['doctor'])
  assert.equal(after.code, exits.done, after.stdout + after.stderr)
  assert.match(after.stdout, /disk +a synced write takes/)
  assert.match(after.stdout, /gateway +none runs/)
})

test('a gateway that cannot start says why, with the end of its log', async () => {
  using shop = workshop()
  config(shop, 'endpoint: { port: many }\n')
  const { code, stderr } = await shop.run(['tool', 'list'])
  assert.equal(code, exits.fault)
  assert.match(stderr, /GATEWAY_DIED/)
  assert.match(stderr, /endpoint\.port: expected a whole number/)
})

test('colours are for terminals, and can be forced and forbidden', async () => {
  using shop = workshop()
  writeFileSync(join(shop.folder, 'other.jsonl'), '{}\n')
  const escape = '\u001b['
  const verify = (env: Record<string, string>, ...args: string[]) =>
    shop.run(['evidence', 'verify', 'other.jsonl', ...args], { env })
  assert.ok(!(await verify({})).stdout.includes(escape))
  assert.ok((await verify({ FORCE_COLOR: '1' })).stdout.includes(escape))
  assert.ok(!(await verify({ FORCE_COLOR: '1', NO_COLOR: '1' })).stdout.includes(escape))
  assert.ok(!(await verify({ FORCE_COLOR: '1' }, '--no-color')).stdout.includes(escape))
})
