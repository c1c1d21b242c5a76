import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { originsOf } from './origins.ts'

test('each value is told with the line, the variable or the default that it comes from, and no secret', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-origins-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'countersign.yaml')
  writeFileSync(file, 'endpoint:\n  port: ${PORT:-7000}\nservers:\n  a: { command: x, env: { A_TOKEN: s3cret } }\n')
  const found = new Map(originsOf(file, {}).map((it) => [it.key, it]))
  assert.deepEqual(found.get('endpoint.port'), { key: 'endpoint.port', value: '7000', from: 'environment', line: 2 })
  assert.deepEqual(found.get('servers.a.command'), { key: 'servers.a.command', value: 'x', from: 'file', line: 4 })
  assert.deepEqual(found.get('endpoint.host'), { key: 'endpoint.host', value: '127.0.0.1', from: 'default' })
  assert.ok(!JSON.stringify([...found.values()]).includes('s3cret'))
})
