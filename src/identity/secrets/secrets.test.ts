import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Secret } from '../../words/secret.ts'
import { KnownSecrets } from './known-secrets.ts'
import { SecretReference } from './reference.ts'

const canary = 'canary+secret/with odd=characters"9'

test('a reference is read when it is needed, from a file, a variable or a program', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-secret-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const value = async (text: string): Promise<string> => (await new SecretReference(text, folder).resolve()).reveal()
  writeFileSync(join(folder, 'token'), `${canary}\n`, { mode: 0o600 })
  assert.equal(await value('secret://file/token'), canary)
  assert.equal(await value(`secret://file${folder}/token`.replace('file/', 'file//')), canary)
  assert.equal(await value('Bearer secret://file/token'), `Bearer ${canary}`)
  writeFileSync(join(folder, 'token'), 'another one')
  assert.equal(await value('secret://file/token'), 'another one')
  process.env['COUNTERSIGN_TEST_SECRET'] = canary
  t.after(() => delete process.env['COUNTERSIGN_TEST_SECRET'])
  assert.equal(await value('secret://env/COUNTERSIGN_TEST_SECRET'), canary)
  assert.equal(await value('secret://command/printf/%25s/a%20b;c'), 'a b;c')
})

test('what gives nothing, or what others may read, is a fault that says where and not what', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-secret-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'open'), canary)
  chmodSync(join(folder, 'open'), 0o644)
  const program = encodeURIComponent(`echo ${canary} >&2; echo ${canary}; exit 3`)
  for (const text of [
    'secret://file/open',
    'secret://file/missing',
    'secret://env/COUNTERSIGN_NOT_SET',
    `secret://command/sh/-c/${program}`,
  ]) {
    const reference = new SecretReference(text, folder)
    await assert.rejects(reference.resolve(), (fault: Error) => !inspect(fault).includes('canary'))
    assert.doesNotMatch(`${inspect(reference)} ${JSON.stringify(reference)} ${String(reference)}`, /canary/)
  }
  for (const text of ['secret://', 'secret://vault/x', 'secret://env/', 'secret://env/A/B', 'secret://keychain/x', 'x'])
    assert.throws(() => new SecretReference(text, folder), TypeError, text)
})

test('a secret does not come back, in any spelling that it was given', () => {
  const known = new KnownSecrets()
  known.add(new Secret(`Bearer ${canary}`))
  const b64 = (text: string): string => Buffer.from(text).toString('base64')
  for (const text of [
    canary,
    encodeURIComponent(canary),
    new URLSearchParams({ a: canary }).toString(),
    JSON.stringify({ a: canary }),
    b64(canary),
    Buffer.from(canary).toString('base64url'),
    b64(`u:${canary}`),
    b64(`us:${canary}:x`),
    b64(`use:${canary}:xy`),
    Buffer.from(canary).toString('hex'),
  ]) {
    const clean = known.scrub(`before ${text} after`)
    assert.match(clean, /^before .*\[secret\].* after$/, text)
    for (const part of [canary, canary.slice(4, 20), b64(canary).slice(4, 20)])
      assert.equal(clean.includes(part), false, clean)
  }
  const innocent = Buffer.from('{"a":"nothing of it"}')
  assert.equal(known.scrubBytes(innocent), innocent)
  assert.equal(Buffer.from(known.scrubBytes(Buffer.from(JSON.stringify({ a: canary })))).toString(), '{"a":"[secret]"}')
  known.add(new Secret('short'))
  assert.equal(known.scrub('a short text'), 'a short text')
})
