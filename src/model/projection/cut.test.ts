import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { cutText } from './cut.ts'

test('T18: five megabytes of astral characters keep head and tail, the omitted size, and no half character', () => {
  const text = `START${'😀'.repeat(1_300_000)}END`
  const cut = cutText(text, 128 * 1024)
  assert.ok(Buffer.byteLength(cut) <= 128 * 1024)
  assert.ok(cut.startsWith('START😀') && cut.endsWith('😀END'))
  assert.ok(cut.isWellFormed() && !cut.includes('\ufffd'))
  const omitted = Number(/\[\.\.\. (\d+) bytes left out \.\.\.\]/.exec(cut)![1])
  const notice = Buffer.byteLength(`\n[... ${omitted} bytes left out ...]\n`)
  assert.equal(Buffer.byteLength(cut) - notice + omitted, Buffer.byteLength(text))
})

test('a text within the limit is untouched but for lone surrogates', () => {
  assert.equal(cutText('abc', 3), 'abc')
  assert.equal(cutText('a\ud800b', 100), 'a\ufffdb')
})

test('T18: any text is cut to well-formed text within the limit', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '検', '😀', '\ud800', '\udc00'), maxLength: 400 })
  fc.assert(
    fc.property(text, fc.integer({ min: 60, max: 300 }), (whole, limit) => {
      const cut = cutText(whole, limit)
      assert.ok(cut.isWellFormed())
      assert.ok(Buffer.byteLength(cut) <= limit)
    }),
  )
})
