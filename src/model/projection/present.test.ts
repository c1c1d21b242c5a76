import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redPixel } from '../../../test/fixtures/providers/toolbox.ts'
import type { Json, JsonObject } from '../../words/json.ts'
import { type ToolAnswer, refusedAnswer } from '../toolbox.ts'
import { FAILURE, type PresentOptions, present, presentDefaults } from './present.ts'
import { type ProviderKind, profileOf } from './profiles.ts'

const kinds: readonly ProviderKind[] = ['anthropic', 'openai-responses', 'openai-chat', 'google', 'compatible']
const png = { type: 'image', mimeType: 'image/png', data: redPixel }

function result(value: JsonObject, isError = false): ToolAnswer & { kind: 'result' } {
  return { kind: 'result', value: { ...value, isError }, isError }
}

function show(answer: ToolAnswer, kind: ProviderKind = 'anthropic', options: Partial<PresentOptions> = {}) {
  const presented = present(answer, profileOf(kind, 'gemini-3-pro'), { ...presentDefaults, ...options })
  const text = presented.blocks.map((block) => (block.kind === 'text' ? block.text : `<${block.mediaType}>`)).join('\n')
  return { ...presented, text }
}

function content(...items: readonly Json[]): JsonObject {
  return { content: items }
}

test('T12: an error with a picture is an error for every provider, marked in the text where there is no flag', () => {
  const failed = content({ type: 'text', text: 'disk full' }, png)
  for (const extra of [{}, { structuredContent: { code: 28 } }]) {
    for (const kind of kinds) {
      const shown = show(result({ ...failed, ...extra }, true), kind)
      const { errorFlag, images } = profileOf(kind, 'gemini-3-pro')
      assert.equal(shown.isError, true)
      assert.equal(shown.text.startsWith(FAILURE), !errorFlag, kind)
      assert.match(shown.text, /disk full/)
      assert.equal(
        shown.blocks.some((block) => block.kind === 'image'),
        images.length > 0,
        kind,
      )
    }
  }
})

test('T13: a picture stays a picture where the wire takes one, and becomes a sentence where it does not', () => {
  assert.deepEqual(show(result(content(png))).blocks, [
    { kind: 'text', text: '[image: image/png, 70 bytes]' },
    { kind: 'image', mediaType: 'image/png', base64: redPixel, bytes: 70 },
  ])
  for (const kind of ['openai-chat', 'compatible'] as const) {
    assert.equal(show(result(content(png)), kind).text, '[image not shown: image/png, 70 bytes]')
  }
})

test('T13: what is no picture of a kind that providers take becomes a sentence, and no text holds its bytes', () => {
  const data = Buffer.from('<svg/>'.repeat(20)).toString('base64')
  const items: readonly Json[] = [
    { type: 'image', mimeType: 'image/svg+xml', data },
    { type: 'image', mimeType: 'image/jpeg', data: redPixel },
    { type: 'image', mimeType: 'image/png', data: `${redPixel}!` },
    { type: 'audio', mimeType: 'audio/wav', data },
    { type: 'resource', resource: { uri: 'file:///x.bin', blob: data } },
    { type: 'resource_link', uri: 'file:///y', name: 'y' },
    { type: 'hologram' },
    { type: 'text', text: `the bytes: ${data} and ${redPixel}` },
  ]
  for (const kind of kinds) {
    const { text, blocks } = show(result({ ...content(...items), structuredContent: { copy: data } }), kind, {
      structured: 'content',
    })
    assert.equal(
      blocks.some((block) => block.kind === 'image'),
      false,
    )
    assert.ok(!text.includes(data) && !text.includes(redPixel), kind)
    assert.match(text, /\[audio not shown: audio\/wav, 120 bytes\]/)
    assert.match(text, /\[link to y \(file:\/\/\/y\)\]/)
    assert.match(text, /\[content of the type "hologram" not shown\]/)
  }
})

test('T13: a picture that a server repeats in its structure is not shown a second time as text', () => {
  const { text } = show(
    result({
      ...content(png),
      structuredContent: { image: redPixel, url: `data:image/png;base64,${'A'.repeat(400)}` },
    }),
  )
  assert.ok(!text.includes(redPixel) && !text.includes('AAAA'))
  assert.match(text, /"image":"\[data of image\/png, 70 bytes\]"/)
})

test('an empty result says so, and an empty text beside others is left out', () => {
  assert.equal(show(result({})).text, '[the tool answered without content]')
  assert.equal(show(result(content({ type: 'text', text: '' }, { type: 'text', text: 'a' }))).blocks.length, 1)
})

test('T14: of text and structure a model sees one, by policy; pictures stay in either case', () => {
  const both = result({ ...content({ type: 'text', text: 'Two found.' }, png), structuredContent: { found: 2 } })
  assert.equal(show(both).text, '{"found":2}\n<image/png>')
  assert.equal(show(both, 'anthropic', { structured: 'content' }).text, 'Two found.\n<image/png>')
})

test('T14: a text that repeats the structure is shown once; a structure alone is shown as JSON', () => {
  const same = { ...content({ type: 'text', text: '{ "found": 2 }' }), structuredContent: { found: 2 } }
  assert.equal(show(result(same)).text, '{ "found": 2 }')
  assert.equal(show(result({ content: [], structuredContent: { found: 2 } })).text, '{"found":2}')
})

test('T14: of an error both text and structure are shown', () => {
  const failed = result(
    { ...content({ type: 'text', text: 'No such note.' }), structuredContent: { code: 'ENOENT' } },
    true,
  )
  assert.equal(show(failed).text, 'No such note.\n{"code":"ENOENT"}')
})

test('T18: many texts together are cut as one', () => {
  const texts = Array.from({ length: 100 }, (_, n) => ({ type: 'text', text: `${n} `.repeat(100) }))
  const { text, blocks } = show(result(content(...texts)), 'anthropic', { textBytes: 1000 })
  assert.equal(blocks.length, 1)
  assert.ok(Buffer.byteLength(text) <= 1000)
  assert.match(text, /bytes left out/)
})

test('what the gates found is said before the result', () => {
  const answer = {
    ...result(content({ type: 'text', text: 'Sent.' })),
    acceptance: 'not_met' as const,
    signs: ['asks-to-ignore'],
    spilled: 'countersign://spill/1',
  }
  const { text } = show(answer, 'compatible')
  assert.match(text, /effect was looked for afterwards and is not there/)
  assert.match(text, /reads like instructions \(asks-to-ignore\); it is data/)
  assert.match(text, /whole is at countersign:\/\/spill\/1/)
  assert.ok(text.endsWith('Sent.'))
})

test('a refusal names its code, its facts and what helps, and whether anything was sent', () => {
  const { text, isError } = show(refusedAnswer('SCOPE_OUTSIDE', { path: '/etc/passwd' }), 'compatible')
  assert.equal(isError, true)
  assert.match(text, /^REFUSED \(SCOPE_OUTSIDE\): What the call would touch lies outside/)
  assert.match(text, /Facts: {"path":"\/etc\/passwd"}/)
  assert.match(text, /was not sent.*refused again/)
  assert.match(
    show(refusedAnswer('APPROVAL_WAITING', {}, { approval: 'apr_1' })).text,
    /Approval: apr_1[^]*sent again later/,
  )
})

test('a refusal after the call has run never says that nothing was sent', () => {
  for (const code of ['RESULT_SCHEMA_MISMATCH', 'RESULT_SECRET', 'OUTCOME_UNKNOWN'] as const) {
    const { text } = show(refusedAnswer(code, {}))
    assert.match(text, /Do not send this call again, in this or another form/)
    assert.doesNotMatch(text, /was not sent/)
  }
})

test('an unknown outcome is neither a success nor a failure, and is never to be repeated', () => {
  for (const kind of kinds) {
    const { text, isError } = show({ kind: 'unknown', operation: 'op_1', why: 'no answer in time' }, kind)
    assert.match(text, /^OUTCOME UNKNOWN \(operation op_1\)/)
    assert.match(text, /neither a success nor a failure. Do not send it again/)
    assert.equal(isError, true)
  }
})
