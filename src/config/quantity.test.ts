import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'
import { parseDuration, parseSize } from './quantity.ts'

test('durations are read into milliseconds', () => {
  const read = {
    '25s': 25_000,
    '10m': 600_000,
    '500ms': 500,
    '1.5h': 5_400_000,
    '7d': 604_800_000,
    '0s': 0,
    '2 s': 2000,
  }
  for (const [text, value] of Object.entries(read)) assert.equal(parseDuration(text), value, text)
})

test('what is no duration is nothing, not a guess', () => {
  for (const text of [
    '',
    '25',
    's',
    '-1s',
    '1e3s',
    '1s2m',
    '10 minutes',
    '0x1s',
    '1.2345s',
    '9999999999s',
    'constructor',
  ])
    assert.equal(parseDuration(text), undefined, text)
})

test('sizes are read into bytes, decimal and binary apart', () => {
  const read = {
    '256KiB': 262_144,
    '1MiB': 1_048_576,
    '100MB': 100_000_000,
    '1kB': 1000,
    '0B': 0,
    '1.5GiB': 1_610_612_736,
  }
  for (const [text, value] of Object.entries(read)) assert.equal(parseSize(text), value, text)
  for (const text of ['1K', '1mb', '1', '999999999.999GB ', '0.0001B', '1.5B'])
    assert.equal(parseSize(text), undefined, text)
})

test('the nearest word is found through typing errors and styles of writing, and nothing is forced', () => {
  const known = ['port', 'host', 'allowedOrigins', 'argumentBytes']
  assert.equal(nearest('prot', known), 'port')
  assert.equal(nearest('alowed_origins', known), 'allowedOrigins')
  assert.equal(nearest('ARGUMENT-BYTES', known), 'argumentBytes')
  assert.equal(nearest('zebra', known), undefined)
  assert.equal(nearest('x', ['y']), undefined)
  assert.equal(nearest('', known), undefined)
})
