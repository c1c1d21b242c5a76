import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../words/json.ts'
import { type Excerpt, excerptOf } from './excerpt.ts'
import { shapeOf } from './shape.ts'

const uri = 'countersign://results/spl_1'

interface Block {
  readonly type: string
  readonly text: string
  readonly uri?: string
  readonly annotations?: object
}

function excerpt(value: JsonObject, room: number, kind: 'tool' | 'prompt' | 'resource' = 'tool') {
  const bytes = Buffer.from(JSON.stringify(value), 'utf8')
  const made = excerptOf(kind, bytes, value, room, { uri, bytes: bytes.length })
  assert.ok(made !== undefined)
  assert.ok(made.bytes.length <= room, `${made.bytes.length} bytes in a room of ${room}`)
  return { ...made, value: parsed(made), whole: bytes.length }
}

function parsed(made: Excerpt): JsonObject {
  assert.ok(isUtf8(made.bytes))
  return JSON.parse(Buffer.from(made.bytes).toString('utf8')) as JsonObject
}

function blocks(value: JsonObject): readonly Block[] {
  return value['content'] as unknown as readonly Block[]
}

test('5 MB of text with astral characters come as head, notice, link and tail, well-formed and within the limit', () => {
  const text = '🙂é𝕏"\n'.repeat(400_000)
  const { value, whole } = excerpt({ content: [{ type: 'text', text }], isError: true }, 256 << 10)
  const [head, notice, link, tail] = blocks(value)
  assert.equal(value['isError'], true)
  assert.ok(text.startsWith(head!.text) && head!.text.length > 50_000)
  assert.ok(text.endsWith(tail!.text) && tail!.text.length > 15_000)
  assert.ok(head!.text.isWellFormed() && tail!.text.isWellFormed())
  assert.deepEqual(link, {
    type: 'resource_link',
    uri,
    name: 'the whole result',
    mimeType: 'application/json',
    size: whole,
  })
  const [, bytes, omitted] = /has (\d+) bytes, and (\d+) of them/.exec(notice!.text)!
  assert.equal(Number(bytes), whole)
  assert.ok(Number(omitted) > whole - (256 << 10) && Number(omitted) < whole)
})

test('whole blocks stay whole, and what is meant for whom stays with a text that is cut', () => {
  const annotations = { audience: ['user'] }
  const content = [
    { type: 'text', text: 'first' },
    { type: 'text', text: 'x'.repeat(9_000), annotations },
    { type: 'text', text: 'last' },
  ]
  const cut = blocks(excerpt({ content }, 4_096).value)
  assert.deepEqual(cut[0], content[0])
  assert.deepEqual(cut.at(-1), content[2])
  assert.deepEqual(cut[1]!.annotations, annotations)
  assert.match(cut[1]!.text, /^x{1000,}$/)
})

test('base 64 that has no room is named and left out, never cut', () => {
  const data = 'A'.repeat(100_000)
  const content = [
    { type: 'text', text: 'before' },
    { type: 'image', mimeType: 'image/png', data },
    { type: 'resource', resource: { uri: 'file:///a', mimeType: 'x"y', blob: data } },
    { type: 'image', mimeType: 'image/gif', data: 'R0lGODlhAQABAAAAACw=' },
  ]
  const cut = blocks(excerpt({ content }, 8_192).value)
  assert.equal(JSON.stringify(cut).includes('AAAAAAAA'), false)
  assert.equal(cut[1]!.text, '[image/png, 100000 characters of base 64, left out here]')
  assert.equal(cut[2]!.text, '[binary, 100000 characters of base 64, left out here]')
  assert.deepEqual(cut[3], content[3])
})

test('structured content stays byte for byte where it takes half of the room at most', () => {
  const value = { content: [{ type: 'text', text: 'x'.repeat(9_000) }], structuredContent: { id: 1 }, _meta: { a: 1 } }
  const text = JSON.stringify(value).replace('"id":1', '"id": 12345678901234567890')
  const made = excerptOf('tool', Buffer.from(text), value, 4_096, { uri, bytes: text.length })!
  assert.deepEqual(made.left, [])
  assert.match(Buffer.from(made.bytes).toString('utf8'), /"structuredContent":\{"id": 12345678901234567890\}/)
})

test('structured content that is all there is shows its beginning as text', () => {
  const { value, left } = excerpt({ structuredContent: { rows: Array.from({ length: 2_000 }, (_, n) => n) } }, 4_096)
  assert.deepEqual(left, ['structuredContent'])
  assert.match(blocks(value)[0]!.text, /^\{"rows":\[0,1,2,/)
})

test('a prompt and a resource keep their own shape', () => {
  const text = 'x'.repeat(9_000)
  const prompt = excerpt({ messages: [{ role: 'assistant', content: { type: 'text', text } }] }, 4_096, 'prompt')
  assert.equal(shapeOf('prompt', prompt.value).ok, true)
  assert.deepEqual(
    (prompt.value['messages'] as unknown as { role: string }[]).map(({ role }) => role),
    ['assistant', 'user', 'user', 'assistant'],
  )
  const contents = [
    { uri: 'file:///a', text },
    { uri: 'file:///b', blob: text },
  ]
  const resource = excerpt({ contents }, 4_096, 'resource')
  assert.equal(shapeOf('resource', resource.value).ok, true)
  const uris = (resource.value['contents'] as unknown as Block[]).map((item) => item.uri)
  assert.deepEqual([...new Set(uris)], ['file:///a', uri, 'file:///b'])
})

test('where not even the notice fits there is no excerpt', () => {
  const value = { content: [{ type: 'text', text: 'x'.repeat(9_000) }] }
  const bytes = Buffer.from(JSON.stringify(value))
  assert.equal(excerptOf('tool', bytes, value, 200, { uri, bytes: bytes.length }), undefined)
})

test('any result in any room comes out as JSON of its kind, in UTF-8, without half a character, within the room', () => {
  const units = fc.string({
    unit: fc.constantFrom('🙂', '\ud83d', '\ude42', 'é', '漢', '"', '\\', '\n', '\u0001', 'a'),
    maxLength: 900,
    size: 'max',
  })
  const block = fc.oneof(
    units.map((text) => ({ type: 'text', text })),
    units.map((text) => ({ type: 'resource', resource: { uri: 'a:b', text } })),
    fc.nat(1_500).map((size) => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(size) })),
    units.map((x) => ({ type: 'other', x })),
  )
  const result = fc.record(
    {
      content: fc.array(block, { maxLength: 8, size: 'max' }),
      structuredContent: fc.jsonValue(),
      isError: fc.boolean(),
    },
    { requiredKeys: ['content'] },
  )
  fc.assert(
    fc.property(result, fc.integer({ min: 1024, max: 3_000 }), (made, room) => {
      const value = JSON.parse(JSON.stringify(made)) as JsonObject
      const cut = excerpt(value, room)
      assert.equal(shapeOf('tool', cut.value).ok, true)
      assert.equal(cut.value['isError'], value['isError'])
      const texts = blocks(cut.value).flatMap((item) => (typeof item.text === 'string' ? [item.text] : []))
      for (const text of texts) assert.ok(text.isWellFormed())
      assert.ok(texts.some((text) => text.includes(uri)))
    }),
    { numRuns: 500 },
  )
})
