import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { LineReader } from './lines.ts'

function read(
  chunks: readonly Buffer[],
  limit = 1000,
): { lines: string[]; oversize: number[]; torn: number; ends: string[] } {
  const lines: string[] = []
  const oversize: number[] = []
  const ends: string[] = []
  const reader = new LineReader(limit, {
    line: (bytes) => void lines.push(bytes.toString('latin1')),
    oversize: ({ head, tail, length }) => {
      oversize.push(length)
      ends.push(head.toString('latin1'), tail.toString('latin1'))
    },
  })
  for (const chunk of chunks) reader.push(chunk)
  return { lines, oversize, torn: reader.torn, ends }
}

/** Cuts bytes into pieces at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((to, n) => bytes.subarray(at[n]!, to))
}

test('however the bytes are cut, the lines are the same', () => {
  const piece = fc.oneof(fc.constant('\n'), fc.stringMatching(/^[a-z]{0,30}$/))
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(), { maxLength: 20 }), (pieces, places) => {
      const text = pieces.join('')
      const expected = text.split('\n')
      const { lines, oversize, torn } = read(cut(Buffer.from(text), places))
      assert.deepEqual(lines, expected.slice(0, -1))
      assert.deepEqual(oversize, [])
      assert.equal(torn, expected.at(-1)?.length)
    }),
  )
})

test('however they are cut, a line beyond the limit is reported with its length and its ends, and the others stay', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 40 }), { minLength: 1 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      (lengths, places) => {
        const all = lengths.map((length, n) => String.fromCharCode(97 + (n % 26)).repeat(length))
        const bytes = Buffer.from(`${all.join('\n')}\n`)
        const { lines, oversize, ends } = read(cut(bytes, places), 20)
        const long = all.filter(({ length }) => length > 20)
        assert.deepEqual(
          lines,
          all.filter(({ length }) => length <= 20),
        )
        assert.deepEqual(
          oversize,
          long.map(({ length }) => length),
        )
        assert.deepEqual(
          ends,
          long.flatMap((line) => [line, line]),
        )
      },
    ),
  )
})

test('the ends of a very long line are its first and its last 512 bytes', () => {
  const line = Buffer.from('a'.repeat(600) + 'b'.repeat(600))
  for (const chunk of [1, 7, 599, 5000]) {
    const chunks: Buffer[] = []
    for (let n = 0; n < line.length; n += chunk) chunks.push(line.subarray(n, n + chunk))
    const { ends } = read([...chunks, Buffer.from('\n')], 100)
    assert.deepEqual(ends, ['a'.repeat(512), 'b'.repeat(512)])
  }
})

test('a line of 8 MB in pieces of 1 KB takes no time that grows with the square of its length', () => {
  const piece = Buffer.alloc(1024, 'x')
  const timeOf = (pieces: number): number => {
    const chunks = [...Array.from<Buffer>({ length: pieces }).fill(piece), Buffer.from('\n')]
    const began = process.cpuUsage()
    read(chunks, 16 * 1024 * 1024)
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1000
  }
  timeOf(1000)
  // Concatenating what came so far with each piece would copy 32 GB.
  assert.ok(timeOf(8192) < 1500)
})
