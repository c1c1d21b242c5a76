import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeHome } from './home.ts'
import { lockFile, markOf, ownHome, ownerOf } from './ownership.ts'

const temporary = () => mkdtempDisposableSync(join(tmpdir(), 'countersign-own-'))
const madeIn = (parent: string) => makeHome(join(parent, 'home')).folder

/** Another process that owns the home until it is killed. */
async function ownElsewhere(folder: string) {
  const code = `import { ownHome } from ${JSON.stringify(new URL('./ownership.ts', import.meta.url).href)}
    globalThis.home = ownHome(${JSON.stringify(folder)}); console.log('owned'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return {
    pid: child.pid!,
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('one process owns a home, and the lock says which', () => {
  using parent = temporary()
  const folder = madeIn(parent.path)
  assert.equal(ownerOf(folder), undefined)
  {
    using home = ownHome(folder)
    assert.equal(home.folder, folder)
    assert.equal(ownerOf(folder)?.pid, process.pid)
    assert.throws(() => ownHome(folder), { code: 'HOME_BUSY' })
    assert.equal(ownerOf(folder)?.pid, process.pid)
  }
  assert.equal(existsSync(lockFile(folder)), false)
  ownHome(folder).release()
})

test('a home that a living process owns is busy, also when its lock file is deleted', async () => {
  using parent = temporary()
  const folder = madeIn(parent.path)
  const other = await ownElsewhere(folder)
  try {
    assert.throws(() => ownHome(folder), { code: 'HOME_BUSY', message: new RegExp(`process ${other.pid}`) })
    rmSync(lockFile(folder))
    assert.throws(() => ownHome(folder), { code: 'HOME_BUSY' })
  } finally {
    await other.kill()
  }
})

test('the home of a process that was killed is taken over at once', async () => {
  using parent = temporary()
  const folder = madeIn(parent.path)
  const other = await ownElsewhere(folder)
  await other.kill()
  assert.equal(existsSync(lockFile(folder)), true)
  assert.equal(ownerOf(folder), undefined)
  using home = ownHome(folder)
  assert.equal(ownerOf(home.folder)?.pid, process.pid)
})

test('a lock whose number went to another process is stale', { skip: !existsSync('/proc/self/stat') }, () => {
  using parent = temporary()
  const folder = madeIn(parent.path)
  const parentMark = markOf(process.ppid)!
  writeFileSync(lockFile(folder), JSON.stringify({ ...parentMark, started: '1' }))
  assert.equal(ownerOf(folder), undefined)
  writeFileSync(lockFile(folder), JSON.stringify({ ...parentMark, boot: 'another boot' }))
  assert.equal(ownerOf(folder), undefined)
  ownHome(folder).release()
})

test('a lock file of a living process counts where the kernel knows nothing of it', () => {
  using parent = temporary()
  const folder = madeIn(parent.path)
  writeFileSync(lockFile(folder), JSON.stringify(markOf(process.ppid)))
  assert.throws(() => ownHome(folder), { code: 'HOME_BUSY', message: new RegExp(`process ${process.ppid}`) })
})

test('a lock file that cannot be read names nobody', () => {
  using parent = temporary()
  const folder = madeIn(parent.path)
  for (const text of ['', '{', 'null', '{"pid":"1"}', '{"pid":-1}', '{"pid":1.5}']) {
    writeFileSync(lockFile(folder), text)
    assert.equal(ownerOf(folder), undefined, text)
  }
  using home = ownHome(folder)
  assert.equal((JSON.parse(readFileSync(lockFile(home.folder), 'utf8')) as { pid: number }).pid, process.pid)
})
