import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { digest } from '../words/digest.ts'
import { reapOrphans, recordChild } from './orphans.ts'
import { processStat } from './processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-orphans-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const stubborn = join(import.meta.dirname, '../../test/fixtures/servers/stubborn.ts')
const lives = (pid: number): boolean => !['Z', undefined].includes(processStat(pid)?.state)

/** A process that starts the stubborn server as we do, and then only waits to be killed. */
const gateway = `
  import { guardian } from ${JSON.stringify(join(import.meta.dirname, 'guardian.ts'))}
  import { startChild } from ${JSON.stringify(join(import.meta.dirname, 'spawn.ts'))}
  const [file, pids, records, ...more] = process.argv.slice(1)
  const child = startChild(
    { command: process.execPath, args: [file, '--pids', pids, ...more], cwd: '/', env: {} },
    { records },
  )
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
  child.stdout.once('data', () => {
    child.settled()
    process.stdout.write(String(guardian.pid))
  })`

for (const more of [[], ['--wrapped'], ['--wrapped', '--leave']]) {
  test(`T14: what is killed alone takes what it started with it within seconds ${more.join(' ')}`, async () => {
    const pidsFile = join(folder, `guarded${more.join('')}`)
    const args = [
      '--input-type=module',
      '-e',
      gateway,
      '--',
      stubborn,
      pidsFile,
      join(folder, 'guarded-records'),
      ...more,
    ]
    const killed = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [guardian] = (await once(killed.stdout, 'data')) as [Buffer]
    const pids = readFileSync(pidsFile, 'utf8').trim().split('\n').map(Number)
    assert.ok(pids.every(lives) && lives(Number(guardian)))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const all = [...pids, Number(guardian)]
    for (const end = Date.now() + 20_000; all.some(lives) && Date.now() < end;) await sleep(20)
    assert.deepEqual(all.filter(lives), [])
  })

  test(`F51: what a killed gateway left behind is ended at the next start ${more.join(' ')}`, async () => {
    const records = join(folder, `records${more.join('')}`)
    const pidsFile = join(folder, `pids${more.join('')}`)
    const args = ['--input-type=module', '-e', gateway, '--', stubborn, pidsFile, records, ...more]
    const killed = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [guardian] = (await once(killed.stdout, 'data')) as [Buffer]
    // The guardian would have ended them; here it goes too, as when the system runs out of memory.
    process.kill(Number(guardian), 'SIGKILL')
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const pids = readFileSync(pidsFile, 'utf8').trim().split('\n').map(Number)
    // The wrapper that leaves does so when it sees the end of its input; only its child remains then.
    while (more.includes('--leave') && lives(pids[0]!)) await sleep(10)
    assert.equal(pids.filter(lives).length, more.includes('--leave') ? 1 : pids.length)

    assert.deepEqual(await reapOrphans(records, 200), [pids[0]])
    assert.deepEqual(pids.filter(lives), [])
    assert.deepEqual(readdirSync(records), [])
    assert.deepEqual(await reapOrphans(records, 200), [])
  })
}

test('a process that got the pid of an earlier child is left alone', async () => {
  const records = join(folder, 'reused')
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true })
  await once(other, 'spawn')
  const pid = other.pid!
  try {
    recordChild(records, pid, digest('command'))
    const file = join(records, `${pid}.json`)
    const note = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const changes: Record<string, unknown>[] = [
      { startTime: '1', members: [] },
      { startTime: '1', members: [{ pid, startTime: '1' }] },
      { boot: 'another start of the machine' },
    ]
    for (const change of changes) {
      writeFileSync(file, JSON.stringify({ ...note, ...change }))
      assert.deepEqual(await reapOrphans(records, 50), [])
      assert.ok(lives(pid))
      assert.ok(!existsSync(file))
    }
  } finally {
    process.kill(pid, 'SIGKILL')
  }
})

test('a note that is no note is thrown away, and one of group 0 or 1 is none', async () => {
  const records = join(folder, 'odd')
  recordChild(records, process.pid, digest('command'))
  const note = JSON.parse(readFileSync(join(records, `${process.pid}.json`), 'utf8')) as Record<string, unknown>
  rmSync(join(records, `${process.pid}.json`))
  for (const text of ['', '{', '[]', '{"pid":5}', ...[0, 1, -1].map((pid) => JSON.stringify({ ...note, pid }))]) {
    writeFileSync(join(records, '1.json'), text)
    assert.deepEqual(await reapOrphans(records, 50), [])
    assert.deepEqual(readdirSync(records), [])
  }
  assert.deepEqual(await reapOrphans(join(folder, 'missing')), [])
})
