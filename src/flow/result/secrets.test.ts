import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { RE2JS } from 're2js'
import type { Json, JsonObject } from '../../words/json.ts'
import { piecesOf } from './pieces.ts'
import { secretRules } from './secret-rules.ts'
import { maskSecrets, maskText } from './secrets.ts'

const HEX = '0123456789abcdef'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LETTERS = UPPER + UPPER.toLowerCase()
const WORD = `${LETTERS}0123456789`

/** Characters that look drawn at random and are the same in each run. They open nothing anywhere. */
function drawn(count: number, alphabet = WORD, seed = 7): string {
  let state = seed * 2654435761
  let text = ''
  for (let n = 0; n < count; n++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    text += alphabet[(state >>> 8) % alphabet.length]
  }
  return text
}

/** One specimen of each rule: what surrounds the secret, and the secret. Put together here, so that no file holds one. */
const specimens: Readonly<Record<string, readonly [before: string, secret: string, after: string]>> = {
  'aws-access-key-id': ['', `AKIA${drawn(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`, ''],
  'github-token': ['', `ghp_${drawn(36)}`, ''],
  'github-fine-grained-token': ['', `github_pat_${drawn(22)}_${drawn(59)}`, ''],
  'gitlab-token': ['', `glpat-${drawn(20, `${WORD}_-`)}`, ''],
  'slack-token': ['', `xoxb-${drawn(12, '0123456789')}-${drawn(13, '0123456789')}-${drawn(24)}`, ''],
  'slack-webhook': ['https://hooks.slack.com/services/', `T${drawn(8, UPPER)}/B${drawn(8, UPPER)}/${drawn(24)}`, ''],
  'stripe-key': ['', `sk_live_${drawn(24)}`, ''],
  'webhook-signing-secret': ['', `whsec_${drawn(32)}`, ''],
  'google-api-key': ['', `AIza${drawn(35)}`, ''],
  'google-oauth-secret': ['', `GOCSPX-${drawn(28)}`, ''],
  'google-access-token': ['ya29.', drawn(60), ''],
  'anthropic-key': ['', `sk-ant-api03-${drawn(93)}AA`, ''],
  'openrouter-key': ['', `sk-or-v1-${drawn(64, HEX)}`, ''],
  'openai-key': ['', `sk-proj-${drawn(48)}`, ''],
  'private-key': [
    '',
    `-----BEGIN RSA PRIVATE KEY-----\n${drawn(64)}\n${drawn(64, `${WORD}+/`)}\n${drawn(20)}==\n-----END RSA PRIVATE KEY-----`,
    '\n',
  ],
  'json-web-token': ['', `eyJhbGciOiJIUzI1NiJ9.eyJ${drawn(40)}.${drawn(43)}`, ''],
  'npm-token': ['', `npm_${drawn(36)}`, ''],
  'pypi-token': ['', `pypi-AgEIcHlwaS5vcmc${drawn(80)}`, ''],
  'rubygems-key': ['', `rubygems_${drawn(48, HEX)}`, ''],
  'docker-token': ['', `dckr_pat_${drawn(27)}`, ''],
  'huggingface-token': ['', `hf_${drawn(34, LETTERS)}`, ''],
  'replicate-token': ['', `r8_${drawn(37)}`, ''],
  'groq-key': ['', `gsk_${drawn(52)}`, ''],
  'xai-key': ['', `xai-${drawn(80)}`, ''],
  'perplexity-key': ['', `pplx-${drawn(48)}`, ''],
  'nvidia-key': ['', `nvapi-${drawn(64)}`, ''],
  'azure-shared-key': [
    'AccountName=shop;AccountKey=',
    `${drawn(86, `${WORD}+/`)}==`,
    ';EndpointSuffix=core.windows.example',
  ],
  'databricks-token': ['', `dapi${drawn(32, HEX)}`, ''],
  'digitalocean-token': ['', `dop_v1_${drawn(64, HEX)}`, ''],
  'vault-token': ['hvs.', drawn(90), ''],
  'terraform-cloud-token': [`${drawn(14)}.atlasv1.`, drawn(67), ''],
  'pulumi-token': ['', `pul-${drawn(40, HEX)}`, ''],
  'twilio-key': ['', `SK${drawn(32, HEX)}`, ''],
  'sendgrid-key': ['SG.', `${drawn(22)}.${drawn(43)}`, ''],
  'mailgun-key': ['', `key-${drawn(32, HEX)}`, ''],
  'square-token': ['', `sq0atp-${drawn(22)}`, ''],
  'square-access-token': ['', `EAAA${drawn(60)}`, ''],
  'shopify-token': ['', `shpat_${drawn(32, HEX)}`, ''],
  'telegram-bot-token': ['bot123456789:', `AA${drawn(33)}`, ''],
  'discord-bot-token': ['', `MTIz${drawn(20)}.${drawn(6)}.${drawn(38)}`, ''],
  'discord-webhook': ['https://discord.com/api/webhooks/123456789012345678/', drawn(68), ''],
  'atlassian-token': ['', `ATATT3xFfGF0${drawn(180)}`, ''],
  'linear-key': ['', `lin_api_${drawn(40)}`, ''],
  'notion-token': ['', `ntn_${drawn(46)}`, ''],
  'figma-token': ['', `figd_${drawn(40)}`, ''],
  'postman-key': ['', `PMAK-${drawn(24, HEX)}-${drawn(34, HEX)}`, ''],
  'grafana-token': ['', `glsa_${drawn(32)}_${drawn(8, HEX)}`, ''],
  'sentry-token': ['', `sntrys_${drawn(100)}`, ''],
  'new-relic-key': ['', `NRAK-${drawn(27, `${UPPER}0123456789`)}`, ''],
  'supabase-key': ['', `sbp_${drawn(40, HEX)}`, ''],
  'planetscale-token': ['', `pscale_tkn_${drawn(43)}`, ''],
  'heroku-key': ['', `HRKU-AA${drawn(58)}`, ''],
  'age-secret-key': ['', `AGE-SECRET-KEY-1${drawn(58, `${UPPER}0123456789`)}`, ''],
  'url-password': ['postgres://ada:', drawn(14), '@db.example.test:5432/shop'],
  'bearer-credential': ['Authorization: Bearer ', drawn(40), ''],
  'assigned-secret': ['DB_PASSWORD="', drawn(20), '"'],
}

function toolResult(text: string): { bytes: Uint8Array; value: JsonObject } {
  return written({ content: [{ type: 'text', text }] })
}

function written(value: JsonObject, text = JSON.stringify(value)): { bytes: Uint8Array; value: JsonObject } {
  return { bytes: Buffer.from(text, 'utf8'), value }
}

function mask({ bytes, value }: { bytes: Uint8Array; value: JsonObject }) {
  return maskSecrets(bytes, value, piecesOf(bytes, value, ['text']).pieces)
}

test('every rule has a name of its own, anchors that can be found, and a pattern without backtracking', () => {
  assert.equal(new Set(secretRules.map(({ id }) => id)).size, secretRules.length)
  for (const { id, anchor, pattern } of secretRules) {
    assert.ok(RE2JS.compile(pattern), id)
    if (anchor.at === 'start') for (const text of anchor.texts) assert.match(text, /^[A-Za-z0-9_+/-]{3,}$/, id)
  }
  assert.deepEqual(
    Object.keys(specimens),
    secretRules.map(({ id }) => id),
  )
})

for (const [rule, [before, secret, after]] of Object.entries(specimens)) {
  test(`a ${rule} is replaced, wherever in a text it stands, and what stands around it is not`, () => {
    for (const [left, right] of [
      ['', ''],
      ['The value is ', ', as agreed.'],
      ['{"a": "', '", "b": 1}'],
      ['first line\n', '\nlast line'],
      ['naïve ', ' — fin'],
      ['日本語 ', ' 🎉'],
    ]) {
      const [head, tail] = [`${left}${before}`, `${after}${right}`]
      const found = mask(toolResult(`${head}${secret}${tail}`))
      const text = `${head}[masked: ${rule}]${tail}`
      assert.deepEqual(found.value, { content: [{ type: 'text', text }] })
      assert.deepEqual(JSON.parse(Buffer.from(found.bytes).toString('utf8')), found.value)
      assert.deepEqual(found.masked, [{ rule, count: 1 }])
    }
  })
}

test('a secret cannot hide behind escapes of JSON', () => {
  const [, secret] = specimens['github-token']!
  const value = { content: [{ type: 'text', text: `x ${secret} y` }] }
  const escapedAt = (at: number): string => `\\u${secret.charCodeAt(at).toString(16).padStart(4, '0')}`
  for (const at of [0, 1, 3, 4, 20]) {
    const hidden = secret.slice(0, at) + escapedAt(at) + secret.slice(at + 1)
    const text = `{"content":[{"type":"text","text":"x ${hidden} y"}]}`
    assert.deepEqual(JSON.parse(text), value)
    assert.deepEqual(mask(written(value, text)).value, {
      content: [{ type: 'text', text: 'x [masked: github-token] y' }],
    })
  }
  const [before, webhook] = specimens['slack-webhook']!
  const slashes = JSON.stringify({ content: [{ type: 'text', text: before + webhook }] }).replaceAll('/', '\\/')
  assert.equal(mask(written(JSON.parse(slashes) as JsonObject, slashes)).masked[0]?.rule, 'slack-webhook')
})

test('secrets are found at every depth, in structured content and in embedded resources, by the key where that tells', () => {
  const [, token] = specimens['npm-token']!
  const password = drawn(18)
  const found = mask(
    written({
      content: [{ type: 'resource', resource: { uri: 'file:///a', text: `t=${token}` } }],
      structuredContent: { deep: [{ er: [token, { db_password: password, note: 'none', nextPageToken: password }] }] },
      _meta: { seen: token },
    }),
  )
  assert.equal(JSON.stringify(found.value).includes(token), false)
  const { deep } = found.value['structuredContent'] as { deep: Json }
  // The very same text elsewhere is the same secret, whatever its key says.
  assert.deepEqual(deep, [
    {
      er: [
        '[masked: npm-token]',
        { db_password: '[masked: assigned-secret]', note: 'none', nextPageToken: '[masked: assigned-secret]' },
      ],
    },
  ])
})

test('base 64 of images, audio and blobs is left alone', () => {
  const [, key] = specimens['aws-access-key-id']!
  const result = written({
    content: [
      { type: 'image', mimeType: 'image/png', data: key },
      { type: 'resource', resource: { uri: 'file:///a', blob: key } },
    ],
  })
  assert.equal(mask(result).bytes, result.bytes)
})

test('a secret is found in a long text wherever the pieces that are searched meet', () => {
  const [, secret] = specimens['npm-token']!
  for (let at = 65_536 - 90; at < 65_536; at += 3) {
    const found = mask(toolResult(`${'- '.repeat(at / 2)}${secret} ${'- '.repeat(9_000)}`))
    assert.deepEqual(found.masked, [{ rule: 'npm-token', count: 1 }])
  }
})

test('what a rule does not touch keeps every byte: spaces, key order, digits that a double would lose', () => {
  const [, secret] = specimens['stripe-key']!
  const text = `{ "content" : [ ] ,\n "structuredContent": {"id": 12345678901234567890, "x": 1.0, "b": "${secret}", "a": "\\u00e9"} }`
  const found = mask(written(JSON.parse(text) as JsonObject, text))
  assert.equal(Buffer.from(found.bytes).toString('utf8'), text.replace(secret, '[masked: stripe-key]'))
})

test('a secret inside another one is masked with it', () => {
  const [, token] = specimens['github-token']!
  const { text } = maskText(`https://bot:${token}@git.example.test/x`)
  assert.equal(text.includes(token.slice(8)), false)
  assert.match(text, /^https:\/\/bot:\[masked: [a-z-]+\]@git\.example\.test\/x$/)
})

test('of two secrets that overlap, neither leaves its end behind', () => {
  const [jwt, pem] = [specimens['json-web-token']![1], specimens['private-key']![1]]
  assert.deepEqual(maskText(`${jwt}${pem}.`), {
    text: '[masked: json-web-token].',
    masked: [{ rule: 'json-web-token', count: 1 }],
  })
})

test('a secret is found right behind another one, and behind the escapes of URLs and of JSON inside JSON', () => {
  const [pem, mailgun] = [specimens['private-key']![1], specimens['mailgun-key']![1]]
  assert.equal(maskText(pem + mailgun).text, '[masked: private-key][masked: mailgun-key]')
  assert.equal(maskText(specimens['npm-token']![1].repeat(12)).text, '[masked: npm-token]'.repeat(12))
  for (const before of ['a%3D', 'line\\n', '\\u003d']) {
    assert.equal(maskText(`${before}${specimens['npm-token']![1]}`).text, `${before}[masked: npm-token]`)
  }
})

test('masking again changes nothing, whatever stands next to what', () => {
  const parts = fc.constantFrom(
    ...Object.values(specimens).flatMap(([before, secret, after]) => [secret, before + secret + after]),
    '"',
    ' ',
    '-',
    '_',
    '/',
    ':',
    '=',
    'password=',
    'token: ',
    '\\n',
    'a',
    '@',
    '://',
    'é',
    '漢',
    '%3D',
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 6 }), (pieces) => {
      const once = maskText(pieces.join(''))
      assert.deepEqual(maskText(once.text), { text: once.text, masked: [] })
    }),
    { numRuns: 300 },
  )
})

test('the search over JSON text misses nothing that the search over its texts finds, however the JSON is written', () => {
  const secrets = fc.constantFrom(...Object.values(specimens).map((parts) => parts.join('')))
  const noise = fc.string({ unit: 'grapheme', maxLength: 30 })
  const style = fc.constantFrom<(json: string) => string>(
    (json) => json,
    (json) => json.replaceAll('/', '\\/'),
    (json) => json.replaceAll(/[^\u0000-\u007f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    (json) => json.replaceAll(/[g-kA-F]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
  )
  fc.assert(
    fc.property(noise, secrets, noise, style, (left, secret, right, write) => {
      const text = `${left}${secret}${right}`
      const value = { content: [{ type: 'text', text }] }
      const json = `{"content":[{"type":"text","text":${write(JSON.stringify(text))}}]}`
      const found = mask(written(value, json))
      assert.deepEqual(found.value, { content: [{ type: 'text', text: maskText(text).text }] })
    }),
    { numRuns: 300 },
  )
})

test('a text made to be slow is masked unread beyond a bound, and still in time', () => {
  const text = 'ghp_aaaaaaaaaaaaaaaa '.repeat(60_000)
  const began = performance.now()
  const found = maskText(text)
  assert.ok(performance.now() - began < 3_000)
  assert.deepEqual(found.masked, [{ rule: 'unread', count: 40_000 }])
  assert.match(found.text.slice(-40), /\[masked: unread\] $/)
})
