import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connected, permitFor, sending, soon, textOf } from '../../../test/fixtures/servers/reach.ts'
import type { UpstreamSpec } from './upstream.ts'

function published(name: string, ...args: string[]): UpstreamSpec['reach'] {
  const file = join(import.meta.dirname, `../../../node_modules/@modelcontextprotocol/${name}/dist/index.js`)
  return { kind: 'stdio', command: process.execPath, args: [file, ...args], cwd: tmpdir(), env: {} }
}

test('server-everything is connected to, listed and called', async () => {
  await using upstream = await connected(published('server-everything', 'stdio'))
  assert.ok((await upstream.list('tools/list', soon())).length >= 10)
  assert.ok((await upstream.list('prompts/list', soon())).length >= 3)
  assert.ok((await upstream.list('resources/list', soon())).length >= 5)
  assert.ok((await upstream.list('resources/templates/list', soon())).length >= 1)
  assert.equal(textOf(await upstream.send(permitFor('echo', { message: 'hi' }), sending())), 'Echo: hi')
})

test('server-filesystem is connected to, listed and called', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-files-')))
  try {
    writeFileSync(join(folder, 'a.txt'), 'in the file')
    await using upstream = await connected(published('server-filesystem', folder))
    assert.ok((await upstream.list('tools/list', soon())).length >= 10)
    const read = permitFor('read_text_file', { path: join(folder, 'a.txt') }, { lane: 'read' })
    assert.equal(textOf(await upstream.send(read, sending())), 'in the file')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('server-memory is connected to, listed and called', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-memory-'))
  try {
    const reach = published('server-memory')
    assert.ok(reach.kind === 'stdio')
    await using upstream = await connected({ ...reach, env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } })
    assert.ok((await upstream.list('tools/list', soon())).length >= 9)
    assert.match(textOf(await upstream.send(permitFor('read_graph'), sending())), /entities/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
