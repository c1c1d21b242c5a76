import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../words/json.ts'
import { piecesOf } from './pieces.ts'
import { maskSecrets, maskText } from './secrets.ts'

/** Nothing in here opens anything, though each line has something that a careless rule would stop at. */
const benign: readonly string[] = [
  'The password policy asks for twelve characters; the secret of a good token is its length: no key is safe when short.',
  'Key points: the API key page explains how keys, tokens and secrets differ.',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main, origin/main)',
  'index 83db48f..bf269f4 100644, tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  'id: 550e8400-e29b-41d4-a716-446655440000, request 123e4567-e89b-12d3-a456-426614174000',
  'sha512-9fSUyWEt8gEn7t0RHkxPyhOHzcyG2Y0C0SoA0Wd5zqvvVZ4C9Kmq0G5zTq0jvJ5j9mZyYzjJ7RjTTlBzBq7HhA==',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'npm_config_registry, npm_lifecycle_event and npm_package_json are set by npm run-script.',
  'Run pip install scikit-learn task-0123456789abcdef-runner; see sk-learn.example/docs and disk-usage-report-2026.',
  'const token = await getAccessTokenForUser2(request); const secret = loadSecretFromVault(config.secretName)',
  'password = process.env.DATABASE_PASSWORD_2 ?? readPasswordFromKeychain("main")',
  'API_KEY=your-api-key-here-1234 and TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx and SECRET=${MY_SECRET_VALUE_01}',
  'export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxx  # replace it',
  'Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE, or Bearer <token>, or Basic authentication_with_password_1',
  'Example from the manual: AKIAIOSFODNN7EXAMPLE is no real key.',
  'postgres://user:password@localhost:5432/db, redis://:${REDIS_PASSWORD}@cache:6379, https://<user>:<token>@host.example',
  'mailto:ada@example.test, https://example.test:8443/@scope/package, git@github.com:owner/repository.git',
  '{"nextPageToken":"CAUQAA4xZDM5YjQ2Zjk3ZDk0NmE1","cursor":"eyJsYXN0SWQiOjEyMzQ1Njc4OTB9","max_tokens":4096}',
  '"cache_key": "deps-v3-9fceb02d0ae598e95dc970b74767f19372d61af8", "idempotency_key": "8e03978e-40d5-43dd-bc93-6894a57f9324"',
  'cache hit: cache-key-d41d8cd98f00b204e9800998ecf8427e, primary key: users_pkey_2024_01_15',
  'The file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY----- on a line of its own.',
  '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ada@laptop',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  '/usr/lib/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js:12:34',
  '| -------------------- | :--------------------: | ==================== |',
  'ticket OPS-12345, order 2026-11-30T20:16:29.123Z, version v1.2.3-beta.4+build.20261130',
  'A UUID as a name: /volumes/550e8400-e29b-41d4-a716-446655440000/snapshots/9fceb02d0ae598e9',
  'SKU SK1234567890ABCDEF and account AC0123456789abcdef0123456789abcdef are public numbers.',
  'secretsmanager.eu-west-1.amazonaws.com, arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod-db-AbCdEf',
  'パスワード：長いほど安全です。トークンの有効期限：30日。',
]

function mask(value: JsonObject) {
  const bytes = Buffer.from(JSON.stringify(value), 'utf8')
  return { bytes, found: maskSecrets(bytes, value, piecesOf(bytes, value, ['text']).pieces) }
}

for (const text of benign) {
  test(`nothing is masked in: ${text.slice(0, 60)}`, () => {
    assert.deepEqual(maskText(text), { text, masked: [] })
  })
}

test('a result without secrets comes back as the very same bytes and value', () => {
  const value = { content: benign.map((text) => ({ type: 'text', text })), structuredContent: { all: benign } }
  const { bytes, found } = mask(value)
  assert.equal(found.bytes, bytes)
  assert.equal(found.value, value)
  assert.deepEqual(found.masked, [])
})

test('random identifiers, digests and base 64 are no secrets by themselves', () => {
  const texts = Array.from({ length: 300 }, () => [
    randomUUID(),
    randomBytes(20).toString('hex'),
    randomBytes(32).toString('hex'),
    randomBytes(300).toString('base64'),
    randomBytes(48).toString('base64url'),
  ]).flat()
  for (const text of texts) assert.deepEqual(maskText(`see ${text}.`), { text: `see ${text}.`, masked: [] })
})

test('random texts and values come back as the same objects', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }), (made) => {
      const value = JSON.parse(JSON.stringify({ content: [], structuredContent: made })) as JsonObject
      const { bytes, found } = mask(value)
      assert.equal(found.bytes, bytes)
      assert.equal(found.value, value)
    }),
    { numRuns: 300 },
  )
})
