import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { SseReader } from './sse.ts'

function read(chunks: readonly Buffer[], limit = 1000): { events: string[][]; oversize: number } {
  const events: string[][] = []
  let oversize = 0
  const reader = new SseReader(limit, {
    event: ({ type, data, id }) => void events.push([type, data.toString('utf8'), ...(id === undefined ? [] : [id])]),
    oversize: () => void oversize++,
  })
  for (const chunk of chunks) reader.push(chunk)
  return { events, oversize }
}

const whole = (text: string, limit?: number): ReturnType<typeof read> => read([Buffer.from(text)], limit)

test('an event has a type, its data without the first blank, and perhaps an id', () => {
  const { events } = whole('event: message\nid: 4\ndata: {"a":1}\n\ndata:x\n\ndata:  y\n\n')
  assert.deepEqual(events, [
    ['message', '{"a":1}', '4'],
    ['message', 'x'],
    ['message', ' y'],
  ])
})

test('lines of data are joined, comments and unknown fields are passed over, and an event without data is none', () => {
  const { events } = whole(
    ': alive\ndata: a\nretry: 5\nfoo: bar\ndata\ndata: b\n\n: alive\n\nevent: nothing\n\ndata:\n\n',
  )
  assert.deepEqual(events, [
    ['message', 'a\n\nb'],
    ['message', ''],
  ])
})

test('lines end with LF, CR or both, and a byte order mark may come first', () => {
  const { events } = whole('\ufeffdata: a\r\n\r\ndata: b\r\rdata: c\n\n')
  assert.deepEqual(
    events.map(([, data]) => data),
    ['a', 'b', 'c'],
  )
})

test('an event that has not ended is no event', () => {
  assert.deepEqual(whole('data: a\n').events, [])
  assert.deepEqual(whole('data: a').events, [])
})

test('however the bytes are cut, the events are the same', () => {
  const line = fc.oneof(
    fc.constantFrom('data: {"jsonrpc":"2.0"}', 'data', 'event: x', ': c', '', 'id: 1', 'data: ü'),
    fc.stringMatching(/^[a-z: ]{0,12}$/),
  )
  const end = fc.constantFrom('\n', '\r\n', '\r')
  fc.assert(
    fc.property(fc.array(fc.tuple(line, end)), fc.nat(), (lines, seed) => {
      const bytes = Buffer.from(lines.flat().join(''))
      const chunks: Buffer[] = []
      for (let n = 0, k = seed; n < bytes.length; k++) {
        const length = 1 + ((k * 7919) % 5)
        chunks.push(bytes.subarray(n, n + length))
        n += length
      }
      assert.deepEqual(read(chunks), read([bytes]))
    }),
  )
})

test('an event beyond the limit is reported once and thrown away, in one line or in many, and the next one is read', () => {
  const long = 'x'.repeat(60)
  for (const text of [
    `data: ${long}\n\n`,
    `${`data: ${'x'.repeat(10)}\n`.repeat(6)}\n`,
    `data: ${long}\ndata: ${long}\n\n`,
  ]) {
    for (const chunk of [1, 13, 1000]) {
      const bytes = Buffer.from(`${text}data: next\n\n`)
      const chunks: Buffer[] = []
      for (let n = 0; n < bytes.length; n += chunk) chunks.push(bytes.subarray(n, n + chunk))
      assert.deepEqual(read(chunks, 50), { events: [['message', 'next']], oversize: 1 }, `${chunk}: ${text}`)
    }
  }
})
