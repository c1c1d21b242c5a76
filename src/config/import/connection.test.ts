import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../load.ts'
import type { Client } from './client.ts'
import { clients } from './clients.ts'
import { connectClient, disconnectClient, planDisconnect } from './connection.ts'
import { entriesOf, readText } from './format.ts'
import { type Plan, planConnect } from './plan.ts'

const fixtures = new URL('../../../test/fixtures/clients/', import.meta.url).pathname
const launcher = { command: '/opt/node/bin/node', args: ['/opt/countersign/bin/countersign.mjs', 'stdio'] }

interface Desk {
  readonly file: string
  readonly home: string
  readonly config: string
  readonly plan: () => Plan
}

function deskOf(t: TestContext, client: Client, fixture: string | undefined): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-import-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const here = {
    userHome: join(folder, 'user'),
    folder: join(folder, 'work'),
    platform: 'linux',
    environment: { LANG: 'C' },
  } as const
  const file = client.files(here)[0]!
  mkdirSync(dirname(file), { recursive: true })
  mkdirSync(here.folder, { recursive: true })
  if (fixture !== undefined) copyFileSync(join(fixtures, fixture), file)
  const [home, config] = [join(folder, 'home'), join(folder, 'countersign.yaml')]
  mkdirSync(home, { mode: 0o700 })
  const starter = (): string => '# ours\nservers: {}\n# the end\n'
  return {
    file,
    home,
    config,
    plan: () => planConnect({ client, file: undefined, here, config, starter, home, launcher }),
  }
}

const ends: Readonly<
  Record<
    string,
    { readonly taken: readonly string[]; readonly left: readonly string[]; readonly secrets?: readonly string[] }
  >
> = {
  'claude-code': { taken: ['files', 'tickets'], left: ['inline'] },
  'claude-desktop': { taken: ['Git-Hub'], left: [], secrets: ['GITHUB_TOKEN'] },
  vscode: { taken: ['maps', 'remote'], left: [] },
  cursor: { taken: ['notes'], left: [] },
  codex: { taken: ['docs', 'far-away'], left: [], secrets: ['DOCS_PASSWORD'] },
  gemini: { taken: ['shop', 'local'], left: [] },
  zed: { taken: ['db'], left: ['off'], secrets: ['DB_URL'] },
  goose: { taken: ['fetch'], left: ['developer', 'slack'], secrets: ['FETCH_TOKEN'] },
  opencode: { taken: ['tests', 'wiki'], left: [] },
  windsurf: { taken: ['mail'], left: ['shell'], secrets: ['Authorization'] },
  cline: { taken: ['weather'], left: ['argued'] },
}

test('there is a case for every client', () => {
  assert.deepEqual(clients.map((it) => it.name).toSorted(), Object.keys(ends).toSorted())
})

for (const client of clients) {
  const fixture = readdirSync(fixtures).find((name) => name.startsWith(`${client.name}.`))!

  test(`${client.name}: connect takes its servers over, and disconnect puts every byte back`, (t) => {
    const desk = deskOf(t, client, fixture)
    const before = readFileSync(desk.file)
    const plan = desk.plan()
    const { taken, left, secrets = [] } = ends[client.name]!
    assert.deepEqual(
      plan.servers.map((it) => it.name),
      taken,
    )
    assert.deepEqual(
      plan.left.map((it) => it.name),
      left,
    )
    assert.deepEqual(
      plan.servers.flatMap((it) => it.moved),
      secrets,
    )
    assert.deepEqual(readFileSync(desk.file), before)
    connectClient(plan, desk.home)

    const written = readFileSync(desk.file, 'utf8')
    const entries = entriesOf(readText(written, client.format, desk.file), client.root, desk.file)
    assert.deepEqual(Object.keys(entries).toSorted(), ['countersign', ...left].toSorted())
    assert.ok(written.includes(launcher.command) && written.includes(launcher.args[0]!))
    // Nothing of what was imported may start before a person let it.
    const config = loadConfig(desk.config, { LANG: 'C' })
    assert.deepEqual(config.servers, [])
    assert.deepEqual(config.waiting.toSorted(), taken.toSorted())

    const undoing = planDisconnect(client, desk.file, desk.home)
    assert.equal(undoing.how, 'exact')
    disconnectClient(client, undoing, desk.home)
    assert.deepEqual(readFileSync(desk.file), before)
  })

  test(`${client.name}: every line that is not a server's stays as it is written`, (t) => {
    const desk = deskOf(t, client, fixture)
    const before = readFileSync(desk.file, 'utf8').split('\n')
    connectClient(desk.plan(), desk.home)
    const after = readFileSync(desk.file, 'utf8').split('\n')
    const comments = before.filter((line) => /^\s*(#|\/\/)/.test(line) && !/fetches pages/.test(line))
    for (const line of comments) assert.ok(after.includes(line), line)
    assert.equal(after[0]!.slice(0, 2), before[0]!.slice(0, 2))
  })

  test(`${client.name}: a file that was changed meanwhile keeps the change when it is disconnected`, (t) => {
    const desk = deskOf(t, client, fixture)
    const before = readText(readFileSync(desk.file, 'utf8'), client.format, desk.file)
    connectClient(desk.plan(), desk.home)
    const text = readFileSync(desk.file, 'utf8')
    const added = client.format === 'toml' || client.format === 'yaml' ? `${text}\n# later\n` : `${text} \n`
    writeFileSync(desk.file, added)
    const undoing = planDisconnect(client, desk.file, desk.home)
    assert.equal(undoing.how, 'entries')
    disconnectClient(client, undoing, desk.home)
    const now = readFileSync(desk.file, 'utf8')
    assert.deepEqual(readText(now, client.format, desk.file), before)
    assert.ok(
      now.endsWith(client.format === 'toml' || client.format === 'yaml' ? '# later\n' : ' \n') ||
        client.format === 'toml',
    )
  })

  test(`${client.name}: where there was no file, one is made, and removed again`, (t) => {
    const desk = deskOf(t, client, undefined)
    const plan = desk.plan()
    connectClient(plan, desk.home)
    assert.match(readFileSync(plan.file, 'utf8'), /countersign/)
    disconnectClient(client, planDisconnect(client, plan.file, desk.home), desk.home)
    assert.ok(!existsSync(plan.file))
  })
}

const [claudeCode, desktop] = clients as [Client, Client]

test('secrets go into private files, and are neither in our file, the plan, nor the client’s', (t) => {
  const desk = deskOf(t, desktop, 'claude-desktop.json')
  const plan = desk.plan()
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
  assert.ok(!JSON.stringify({ ...plan, theirs: undefined }).includes(token))
  connectClient(plan, desk.home)
  for (const file of [desk.file, desk.config]) assert.ok(!readFileSync(file, 'utf8').includes(token), file)
  const kept = join(desk.home, 'secrets', 'Git-Hub', 'GITHUB_TOKEN')
  assert.equal(readFileSync(kept, 'utf8'), token)
  assert.equal(statSync(kept).mode & 0o777, 0o600)
  // This client knows no variables: what looks like one is a text, and stays one.
  assert.match(readFileSync(desk.config, 'utf8'), /LOG: \$\$\{LITERAL\}/)
})

test('a plan that was made before the file changed is refused, and nothing is written', (t) => {
  const desk = deskOf(t, claudeCode, 'claude-code.mcp.json')
  const plan = desk.plan()
  writeFileSync(desk.file, `${readFileSync(desk.file, 'utf8')}\n`)
  assert.throws(() => connectClient(plan, desk.home), { code: 'PREVIEW_STALE' })
  assert.ok(!existsSync(desk.config))
  assert.deepEqual(readdirSync(desk.home), [])
})

test('a link stays a link, and the file behind it keeps its mode', (t) => {
  const desk = deskOf(t, claudeCode, undefined)
  const real = join(desk.home, 'dotfiles.json')
  copyFileSync(join(fixtures, 'claude-code.mcp.json'), real)
  rmSync(desk.file, { force: true })
  symlinkSync(real, desk.file)
  const mode = statSync(real).mode
  connectClient(desk.plan(), desk.home)
  assert.match(readFileSync(real, 'utf8'), /countersign/)
  assert.equal(readFileSync(desk.file, 'utf8'), readFileSync(real, 'utf8'))
  assert.equal(statSync(real).mode, mode)
})

test('an entry of ours that somebody changed is not undone over their head', (t) => {
  const desk = deskOf(t, claudeCode, 'claude-code.mcp.json')
  connectClient(desk.plan(), desk.home)
  writeFileSync(desk.file, readFileSync(desk.file, 'utf8').replace('/opt/node/bin/node', '/usr/bin/evil'))
  assert.throws(() => planDisconnect(claudeCode, desk.file, desk.home), { code: 'CLIENT_CHANGED' })
})

test('a second connect, and the file of another client, are refused', (t) => {
  const desk = deskOf(t, claudeCode, 'claude-code.mcp.json')
  connectClient(desk.plan(), desk.home)
  assert.throws(desk.plan, { code: 'CLIENT_CONNECTED' })
  copyFileSync(join(fixtures, 'opencode.json'), desk.file)
  assert.throws(desk.plan, { code: 'CLIENT_FILE', message: /has `mcp`, and Claude Code reads `mcpServers`/ })
})

test('a server that is in our file already is not written a second time', (t) => {
  const desk = deskOf(t, claudeCode, 'claude-code.mcp.json')
  connectClient(desk.plan(), desk.home)
  disconnectClient(claudeCode, planDisconnect(claudeCode, desk.file, desk.home), desk.home)
  const before = readFileSync(desk.config, 'utf8')
  const plan = desk.plan()
  assert.deepEqual(
    plan.servers.map((it) => [it.name, it.known]),
    [
      ['files', true],
      ['tickets', true],
    ],
  )
  connectClient(plan, desk.home)
  assert.equal(readFileSync(desk.config, 'utf8'), before)
})
