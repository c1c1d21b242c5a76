import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { membersOf, replaceTexts, textOf } from './json-text.ts'

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8')

/** JSON text of any value in any spelling: white space, escapes. */
const spelling = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom('', ' ', '\t', '  '), fc.boolean())
  .map(([value, indent, escape]) => {
    const text = JSON.stringify(value, null, indent)
    return escape ? text.replaceAll(/[a-z\u0080-\uffff]/g, unicode) : text
  })

function unicode(letter: string): string {
  // Not the letters of `true`, `false` and `null`, nor those of an escape.
  return 'truefalsnb'.includes(letter) ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}

test('the members of an object are found in any spelling', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom('', ' ', '\n'), (object, indent) => {
      const bytes = bytesOf(JSON.stringify(object, null, indent))
      const found = membersOf(bytes).map(({ key, value, to }) => [key, JSON.parse(textOf(bytes, value, to)) as unknown])
      assert.deepEqual(
        found,
        Object.keys(object).map((key) => [key, JSON.parse(JSON.stringify(object[key])) as unknown]),
      )
    }),
  )
})

test('long texts, with many escaped quotes and with none, end where they end', () => {
  for (const text of [
    'x'.repeat(5_000),
    '"'.repeat(500),
    '\\'.repeat(501),
    `${'y'.repeat(100)}\\"${'z'.repeat(100)}`,
  ]) {
    const bytes = bytesOf(JSON.stringify({ a: text, b: [text, { c: text }], d: 1 }))
    assert.deepEqual(
      membersOf(bytes).map(({ key, value, to }) => [key, JSON.parse(textOf(bytes, value, to)) as unknown]),
      [
        ['a', text],
        ['b', [text, { c: text }]],
        ['d', 1],
      ],
    )
  }
})

test('texts are replaced where they are values, and nothing else changes a byte', () => {
  const before = ' { "same" : "same", "n": 12345678901234567890, "list":["same","s\\u0061me", "other", {"k":"same"}]}\n'
  const after =
    ' { "same" : "new \\"one\\"", "n": 12345678901234567890, "list":["new \\"one\\"","new \\"one\\"", "other", {"k":"new \\"one\\""}]}\n'
  const replaced = replaceTexts(bytesOf(before), new Map([['same', 'new "one"']]))
  assert.equal(Buffer.from(replaced).toString('utf8'), after)
})

test('without a text to replace the bytes are the same object', () => {
  fc.assert(
    fc.property(spelling, (text) => {
      const bytes = bytesOf(text)
      assert.equal(replaceTexts(bytes, new Map([['a text that is nowhere in it', 'x']])), bytes)
    }),
  )
})

test('replacing is the same as replacing in the parsed value', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constant('needle'), fc.record({ needle: fc.constant('needle') }))),
      (value) => {
        const bytes = replaceTexts(bytesOf(JSON.stringify(value)), new Map([['needle', 'pin']]))
        const expected = value.map((item) =>
          item === 'needle' ? 'pin' : typeof item === 'object' ? { needle: 'pin' } : item,
        )
        assert.deepEqual(JSON.parse(Buffer.from(bytes).toString('utf8')), expected)
      },
    ),
  )
})
