import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { linesOf, pageOf, textOf, withoutEnding } from './lines.ts'

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', '学习', 'é', 'e\u0301', '👩‍🎓', '\u2028', ' '),
      fc.string({ unit: 'grapheme' }),
    ),
  )
  .map((parts) => parts.join('').replaceAll('\ufeff', ''))

test('the lines of a text, put together, are the text, and each but the last ends with a line feed', () => {
  fc.assert(
    fc.property(text, (text) => {
      const lines = linesOf(text)
      assert.equal(lines.join(''), text)
      assert.equal(
        lines.slice(0, -1).every((line) => line.endsWith('\n')),
        true,
      )
      assert.equal(
        lines.every((line) => !withoutEnding(line).includes('\n')),
        true,
      )
    }),
  )
})

test('pages that follow next_offset give the whole text once, whatever the limits', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 40, max: 200 }), (text, limit, bytes) => {
      const parts: string[] = []
      for (let offset = 0; ;) {
        const page = pageOf(text, offset, limit, bytes)
        if (!page.ok) {
          const line = linesOf(text)[offset] ?? ''
          assert.equal(page.problem.code, 'line_too_long')
          assert.ok(Buffer.byteLength(line) > bytes)
          parts.push(line)
          offset += 1
          continue
        }
        assert.ok(page.value.returned_lines <= limit)
        assert.ok(Buffer.byteLength(page.value.text) <= bytes)
        assert.equal(page.value.total_lines, linesOf(text).length)
        parts.push(page.value.text)
        if (page.value.stopped_by === 'end') break
        assert.ok(page.value.returned_lines > 0)
        offset += page.value.returned_lines
      }
      assert.equal(parts.join(''), text)
    }),
  )
})

test('a CRLF is never torn and a multi-byte character is never cut, even when the bytes run out inside one', () => {
  assert.deepEqual(pageOf('äöü\r\nñ\r\n', 0, 10, 9), {
    ok: true,
    value: { text: 'äöü\r\n', returned_lines: 1, total_lines: 2, stopped_by: 'bytes' },
  })
  assert.equal(pageOf('äöü\r\n', 0, 10, 8).ok, true)
  const short = pageOf('äöü\r\n', 0, 10, 7)
  assert.equal(!short.ok && short.problem.code, 'line_too_long')
  assert.match(short.ok ? '' : short.problem.say, /offset 0 is longer than 7 bytes; go on at offset 1/)
})

test('a final line feed opens no further line, and an empty note has none', () => {
  assert.deepEqual(linesOf('a\nb\n'), ['a\n', 'b\n'])
  assert.deepEqual(linesOf('a\r\nb'), ['a\r\n', 'b'])
  assert.deepEqual(linesOf('a\rb'), ['a\rb'])
  assert.deepEqual(linesOf(''), [])
})

test('an offset at or behind the end gives no lines and says that nothing follows', () => {
  for (const offset of [2, 3, Number.MAX_SAFE_INTEGER]) {
    const end = { text: '', returned_lines: 0, total_lines: 2, stopped_by: 'end' }
    assert.deepEqual(pageOf('a\nb\n', offset, 1_000, 100), { ok: true, value: end })
  }
})

test('a page that ends exactly where the note ends says so, although the limit is reached too', () => {
  const page = pageOf('a\nb\n', 0, 2, 100)
  assert.equal(page.ok && page.value.stopped_by, 'end')
})

test('one byte order mark at the beginning is left out, and one elsewhere stays', () => {
  assert.deepEqual(textOf(Buffer.from('\ufeffa\ufeffb')), { ok: true, value: 'a\ufeffb' })
  assert.deepEqual(textOf(Buffer.from('\ufeff')), { ok: true, value: '' })
})

test('bytes that are not UTF-8 are refused, not replaced', () => {
  const notText = [[0xff, 0xfe, 0x61, 0x00], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x61, 0x80]]
  for (const bytes of notText) {
    const decoded = textOf(Uint8Array.from(bytes))
    assert.equal(!decoded.ok && decoded.problem.code, 'not_utf8')
  }
})
