import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { workshop } from './cli.fixture.ts'

const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'

function clientText(started: string): string {
  const servers = {
    hub: { command: 'touch', args: [started], env: { GITHUB_TOKEN: token } },
    evil: { command: 'bash', args: ['-c', `touch ${started}`] },
  }
  return `${JSON.stringify({ mcpServers: servers, kept: true }, undefined, 4)}\n`
}

test('connect shows names and no values, is bound to what it showed, starts nothing, and is undone to the byte', async () => {
  using shop = workshop()
  const [file, started] = [join(shop.folder, '.mcp.json'), join(shop.folder, 'started')]
  const before = clientText(started)
  writeFileSync(file, before)

  const shown = await shop.run(['connect', 'claude-code', '--dry-run'])
  assert.equal(shown.code, 0, shown.stderr)
  assert.match(shown.stdout, /moves {2}hub: touch .*started; variables GITHUB_TOKEN/)
  assert.match(shown.stdout, /stays {2}evil: `bash -c` runs code out of its arguments/)
  assert.ok(!`${shown.stdout}${shown.stderr}`.includes(token))
  assert.equal(readFileSync(file, 'utf8'), before)
  assert.ok(!existsSync(join(shop.folder, 'countersign.yaml')))

  const nobody = await shop.run(['connect', 'claude-code'])
  assert.equal(nobody.code, 2)
  const [, digest] = /digest (\w+)/.exec(shown.stdout)!
  writeFileSync(file, before.replace('true', 'false'))
  const stale = await shop.run(['connect', 'claude-code', '--preview', digest!])
  assert.equal(stale.code, 1)
  assert.match(stale.stderr, /PREVIEW_STALE/)
  writeFileSync(file, before)
  const done = await shop.run(['connect', 'claude-code', '--preview', digest!])
  assert.equal(done.code, 0, done.stderr)

  const entry = (
    JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: Record<string, { command: string; args: string[] }> }
  ).mcpServers['countersign']!
  assert.equal(entry.command, process.execPath)
  assert.ok(existsSync(entry.args[0]!))
  assert.ok(!readFileSync(join(shop.folder, 'countersign.yaml'), 'utf8').includes(token))
  assert.equal(statSync(join(shop.folder, '.countersign', 'secrets', 'hub', 'GITHUB_TOKEN')).mode & 0o777, 0o600)

  // With a gateway up, nothing of what was imported has run.
  try {
    const status = await shop.run(['server', 'list', '--json'])
    assert.deepEqual(JSON.parse(status.stdout), { servers: [] })
    assert.match(status.stderr, /server approve hub/)
    assert.ok(!existsSync(started))
  } finally {
    await shop.run(['stop'])
  }
  const undone = await shop.run(['disconnect', 'claude-code', '--yes'])
  assert.equal(undone.code, 0, undone.stderr)
  assert.equal(readFileSync(file, 'utf8'), before)
})

test('server add writes what it showed; code in arguments and secrets on the command line are refused', async () => {
  using shop = workshop()
  await shop.run(['init'])
  const file = join(shop.folder, 'countersign.yaml')
  const before = readFileSync(file, 'utf8')
  const refused: readonly (readonly [string[], RegExp])[] = [
    [['server', 'add', 'x', '--yes', '--', 'node', '-e', '1'], /`node -e` runs code/],
    [['server', 'add', 'x', '--yes', '--', 'npx', '-c', 'id'], /`npx -c` runs code/],
    [['server', 'add', 'x', '--yes', '--env', `GITHUB_TOKEN=${token}`, '--', 'hub'], /not given on the command line/],
    [['server', 'add', 'x', '--yes', '--', 'hub', `--token=${token}`], /a secret among the arguments/],
    [['server', 'add', 'x', '--yes'], /expected `-- COMMAND/],
  ]
  for (const [args, why] of refused) {
    const { code, stderr } = await shop.run(args)
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, why)
    assert.ok(!stderr.includes(token))
  }
  assert.equal(readFileSync(file, 'utf8'), before)
  const added = await shop.run([
    'server',
    'add',
    'notes',
    '--yes',
    '--env',
    'NOTES_TOKEN',
    '--',
    'notes mcp',
    '$(id)',
    '-v',
  ])
  assert.equal(added.code, 0, added.stderr)
  assert.match(added.stdout, /notes: "notes mcp" "\$\(id\)" -v; variables NOTES_TOKEN/)
  const shown = JSON.parse((await shop.run(['config', 'show', '--json'])).stdout) as { servers: Record<string, object> }
  assert.deepEqual((shown.servers['notes'] as { args: string[] }).args, ['$(id)', '-v'])
  const removed = await shop.run(['server', 'remove', 'notes', '--yes'])
  assert.equal(removed.code, 0, removed.stderr)
  assert.doesNotMatch(readFileSync(file, 'utf8'), /notes mcp/)
})

test('server import leaves the client’s file alone, and server approve lets a server start', async () => {
  using shop = workshop()
  const file = join(shop.folder, 'zed.json')
  const text = '{ /* mine */ "context_servers": { "hello": { "command": "hello-mcp" } } }'
  writeFileSync(file, text)
  const imported = await shop.run(['server', 'import', 'zed', '--file', file, '--yes', '--json'])
  assert.equal(imported.code, 0, imported.stderr)
  assert.equal(readFileSync(file, 'utf8'), text)
  const config = async () => JSON.parse((await shop.run(['config', 'show', '--json'])).stdout) as { waiting: string[] }
  assert.deepEqual((await config()).waiting, ['hello'])
  const approved = await shop.run(['server', 'approve', 'hello', '--yes'])
  assert.equal(approved.code, 0, approved.stderr)
  assert.deepEqual((await config()).waiting, [])
  const unknown = await shop.run(['connect', 'claude-coed', '--dry-run'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /Did you mean `claude-code`\?/)
})
