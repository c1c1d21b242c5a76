import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { once } from 'node:events'
import { test } from 'node:test'
import { findSockets, prepareSockets } from './sockets.ts'

const temporary = () => mkdtempDisposableSync(join(tmpdir(), 'countersign-sockets-'))

function homeOfLength(parent: string, bytes: number): string {
  const folder = join(parent, 'h'.repeat(bytes - Buffer.byteLength(parent) - 1))
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

test('a home with a short path holds its own sockets', () => {
  using parent = temporary()
  assert.deepEqual(findSockets(parent.path), {
    controlSocket: join(parent.path, 'control.sock'),
    mcpSocket: join(parent.path, 'mcp.sock'),
  })
  assert.deepEqual(prepareSockets(parent.path), findSockets(parent.path))
})

test('the longest path that fits can really be listened on, and one byte more moves the sockets elsewhere', async () => {
  using parent = temporary()
  const longest = (process.platform === 'darwin' ? 103 : 107) - '/control.sock'.length
  const fitting = findSockets(homeOfLength(parent.path, longest)).controlSocket
  assert.ok(fitting.startsWith(parent.path))
  const server = createServer().listen(fitting)
  await once(server, 'listening')
  server.close()
  const moved = findSockets(homeOfLength(parent.path, longest + 1)).controlSocket
  assert.ok(!moved.startsWith(parent.path))
})

test('sockets of a long home are in a private folder that the home names, whatever the environment of a later process', () => {
  using parent = temporary()
  using runtime = temporary()
  const home = homeOfLength(parent.path, 200)
  const before = process.env['XDG_RUNTIME_DIR']
  let made
  try {
    process.env['XDG_RUNTIME_DIR'] = runtime.path
    made = prepareSockets(home)
    assert.equal(dirname(dirname(made.controlSocket)), runtime.path)
    assert.equal(readFileSync(join(home, 'sockets'), 'utf8').trim(), dirname(made.controlSocket))
  } finally {
    if (before === undefined) delete process.env['XDG_RUNTIME_DIR']
    else process.env['XDG_RUNTIME_DIR'] = before
  }
  assert.deepEqual(findSockets(home), made)
})

test('a folder that somebody else prepared for the sockets is not used', () => {
  using parent = temporary()
  const home = homeOfLength(parent.path, 200)
  const folder = dirname(findSockets(home).controlSocket)
  mkdirSync(folder, { mode: 0o700 })
  try {
    chmodSync(folder, 0o777)
    assert.throws(() => prepareSockets(home), { code: 'HOME_UNSAFE' })
    chmodSync(folder, 0o700)
    prepareSockets(home)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
