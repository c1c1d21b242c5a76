import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Secret } from '../words/secret.ts'
import { confined, findBubblewrap } from './bubblewrap.ts'
import { canaries, tryCanaries } from './canaries.ts'
import type { Confinement } from './confinement.ts'
import { startChild } from './spawn.ts'
import { startableOf } from './start.ts'

const found = await findBubblewrap()
const skip = 'missing' in found ? found.missing : false
const path = 'path' in found ? found.path : ''
const nothing: Confinement = { mode: 'require', read: [], write: [], network: false }

function folder(t: { after(fn: () => void): void }): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-sandbox-')))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Runs a script of its own folder in a sandbox, and answers what it printed. */
async function run(at: string, script: string, confinement: Partial<Confinement>, env: Record<string, Secret> = {}) {
  mkdirSync(join(at, 'program'), { recursive: true })
  writeFileSync(join(at, 'program', 'package.json'), '{"type":"module"}')
  writeFileSync(join(at, 'program', 'main.mjs'), script)
  const program = { command: process.execPath, args: [join(at, 'program', 'main.mjs')], cwd: join(at, 'program'), env }
  const inside = confined(program, { ...nothing, ...confinement }, path)
  const child = startChild(inside)
  const printed = text(child.stdout)
  const exit = await child.exited
  assert.deepEqual(exit, { kind: 'ended', code: 0, signal: null }, child.errorOutput())
  await child.end()
  return { printed: await printed, argv: inside.args.join(' ') }
}

test('every canary escapes without a sandbox, and none with one', { skip }, async () => {
  const bare = await tryCanaries(undefined)
  // Who runs the tests may not write into /usr, sandbox or not.
  for (const one of canaries) if (one !== 'system') assert.equal(bare[one], true, one)
  const escaped = await tryCanaries(path)
  for (const one of canaries) assert.equal(escaped[one], false, one)
})

test('a declared folder can be read, one for writing written, and nothing beside them', { skip }, async (t) => {
  const at = folder(t)
  for (const name of ['read', 'write', 'other']) {
    mkdirSync(join(at, name))
    writeFileSync(join(at, name, 'file'), name)
  }
  const script = `
    import { readFileSync, writeFileSync } from 'node:fs'
    const may = (act) => { try { act(); return true } catch { return false } }
    const reads = ['read', 'write', 'other'].map((name) => may(() => readFileSync(${JSON.stringify(at)} + '/' + name + '/file')))
    const writes = ['read', 'write', 'other'].map((name) => may(() => writeFileSync(${JSON.stringify(at)} + '/' + name + '/new', 'x')))
    console.log(JSON.stringify({ reads, writes }))`
  const { printed } = await run(at, script, { read: [join(at, 'read')], write: [join(at, 'write')] })
  assert.deepEqual(JSON.parse(printed), { reads: [true, true, false], writes: [false, true, false] })
  assert.equal(readFileSync(join(at, 'write', 'new'), 'utf8'), 'x')
})

test('our home stays empty to a program, though it lies in what it may read', { skip }, async (t) => {
  const at = folder(t)
  const home = join(at, 'program', '.countersign')
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'key'), 'secret')
  const script = `import { readdirSync } from 'node:fs'; console.log(readdirSync(${JSON.stringify(home)}).length)`
  assert.equal((await run(at, script, { hidden: [home] })).printed.trim(), '0')
  assert.equal((await run(at, script, {})).printed.trim(), '1')
})

test('what a program is given as a secret is in its environment, and in no argument', { skip }, async (t) => {
  const secret = new Secret('hunter2-hunter2')
  const { printed, argv } = await run(folder(t), `console.log(process.env.KEY)`, {}, { KEY: secret })
  assert.equal(printed.trim(), 'hunter2-hunter2')
  assert.ok(!argv.includes('hunter2'))
})

test('the end of the sandbox is the end of everything in it', { skip }, async (t) => {
  const at = folder(t)
  const beats = join(at, 'beats')
  mkdirSync(beats)
  mkdirSync(join(at, 'program'))
  writeFileSync(join(at, 'program', 'package.json'), '{}')
  // It ignores the end of its input and SIGTERM, and leaves a child in a session of its own.
  const script = `
    const { spawn } = require('node:child_process')
    process.on('SIGTERM', () => {})
    const beat = "setInterval(() => require('node:fs').writeFileSync(" + JSON.stringify(${JSON.stringify(join(beats, 'beat'))}) + ", String(Date.now())), 20)"
    spawn(process.execPath, ['-e', beat], { detached: true, stdio: 'ignore' }).unref()
    setInterval(() => {}, 1000)
    console.log('up')`
  writeFileSync(join(at, 'program', 'main.cjs'), script)
  const program = {
    command: process.execPath,
    args: [join(at, 'program', 'main.cjs')],
    cwd: join(at, 'program'),
    env: {},
  }
  const child = startChild(confined(program, { ...nothing, write: [beats] }, path), { graceMs: 200 })
  await new Promise<void>((resolve) => void child.stdout.once('data', () => resolve()))
  const last = () => {
    try {
      return readFileSync(join(beats, 'beat'), 'utf8')
    } catch {
      return ''
    }
  }
  while (last() === '') await new Promise((resolve) => setTimeout(resolve, 20))
  await child.end()
  const after = last()
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(last(), after)
})

test('where there is no sandbox, what requires one is refused, what prefers one runs and says so', () => {
  const program = { command: 'node', args: [], cwd: '/', env: {} }
  const missing = { missing: 'it is not installed' }
  const refused = startableOf(program, nothing, missing)
  assert.ok(refused.kind === 'refuse' && refused.why.includes('sandbox: none'))
  const preferred = startableOf(program, { ...nothing, mode: 'prefer' }, missing)
  assert.deepEqual(preferred, { kind: 'start', program, confined: 'none', why: 'it is not installed' })
  assert.deepEqual(startableOf(program, undefined, missing), { kind: 'start', program, confined: 'none' })
})
