import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Kept } from './kept.ts'
import { sealedVault } from './sealed-vault.ts'

const key = randomBytes(32)
const kept: Kept = {
  clients: { 'https://login.example': { id: 'c', secret: 'canary-secret' } },
  tokens: {
    issuer: 'https://login.example',
    clientId: 'c',
    resource: 'https://a.example/mcp',
    access: 'canary-access',
    refresh: 'canary-refresh',
    scopes: ['x'],
  },
}

test('what is kept is sealed, for one principal and one upstream', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-vault-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const ann = sealedVault(folder, key, { principal: 'ann', upstream: 'a' })
  ann.write(kept)
  assert.deepEqual(ann.read(), kept)
  const [file] = readdirSync(folder)
  const path = join(folder, file!)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const bytes = readFileSync(path)
  assert.equal(bytes.includes('canary'), false)

  const nothing = { clients: {} }
  const others = [
    sealedVault(folder, key, { principal: 'bob', upstream: 'a' }),
    sealedVault(folder, key, { principal: 'ann', upstream: 'b' }),
  ]
  for (const other of others) {
    other.write({ ...kept, clients: {} })
    const name = readdirSync(folder).find((it) => it !== file)!
    // A copy of Ann's file under the other's name does not open.
    copyFileSync(path, join(folder, name))
    assert.deepEqual(other.read(), nothing)
    rmSync(join(folder, name))
  }
  assert.deepEqual(sealedVault(folder, randomBytes(32), { principal: 'ann', upstream: 'a' }).read(), nothing)
  for (const at of [0, 13, 40]) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    writeFileSync(path, changed)
    assert.deepEqual(ann.read(), nothing)
  }
  ann.write({ clients: {} })
  assert.deepEqual(readdirSync(folder), [])
})
