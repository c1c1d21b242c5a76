import assert from 'node:assert/strict'
import { test } from 'node:test'
import { order } from '../../flow/order.ts'
import { argumentsText, targetOf } from '../arguments.ts'
import { decisionOf } from '../ask.ts'
import { tellFault } from '../fault.ts'
import { bytes, fromNow, span } from './moment.ts'
import { stepLines } from './steps.ts'
import { tableLines } from './table.ts'
import { fit, padEnd, plain, widthOf } from './width.ts'

const io = { columns: Infinity, paint: (_style: unknown, text: string) => text }

test('wide characters take two columns, combining ones none', () => {
  const widths = {
    abc: 3,
    天气: 4,
    한국어: 6,
    ｆｕｌｌ: 8,
    'e\u0301': 1,
    '👩‍👩‍👧': 2,
    '✓': 1,
    '\u001b[31mred\u001b[0m': 3,
    '': 0,
  }
  for (const [text, width] of Object.entries(widths)) assert.equal(widthOf(text), width, text)
  assert.equal(fit('天气很好', 5), '天气…')
  assert.equal(fit('short', 5), 'short')
  assert.equal(padEnd('天', 4), '天  ')
})

test('columns line up whatever the cells hold', () => {
  const lines = tableLines(
    ['NAME', 'WHAT'],
    [
      ['天气', 'x'],
      ['e\u0301', 'y'],
      ['plain', 'z'],
    ],
    io,
  )
  assert.deepEqual(lines, ['NAME   WHAT', '天气   x', 'e\u0301      y', 'plain  z'])
})

test('a table fits its terminal', () => {
  for (const line of tableLines(['A', 'B'], [['one', 'word '.repeat(50)]], { ...io, columns: 40 }))
    assert.ok(widthOf(line) <= 40)
})

test('text from elsewhere cannot move the cursor, break a line or hide', () => {
  assert.equal(plain('a\u001b[2Jb\nc\u202ed\te'), 'a\\u{1b}[2Jb\\nc\\u{202e}d\\te')
  const [line] = stepLines([{ step: 'tool', verdict: 'pass', facts: { name: 'x\r\u001b[1Ay' }, micros: 1 }], io)
  assert.ok(!/[\r\u001b]/.test(line!))
})

test('each gate has one line, in columns, and a refusal says what to do next', () => {
  const steps = order.slice(0, 3).map((step) => ({ step, verdict: 'pass' as const, facts: { a: 1 }, micros: 1 }))
  const lines = stepLines(
    [...steps, { step: 'resource', verdict: 'refuse', code: 'SCOPE_OUTSIDE', facts: { path: 'a b' }, micros: 1 }],
    io,
  )
  assert.equal(lines[0], '✓ proposal     pass    a=1')
  assert.match(lines[3]!, /^✗ resource {5}refuse {2}SCOPE_OUTSIDE path="a b"$/)
  assert.match(lines[5]!, /→ Stay inside/)
})

test('the line of a gate leaves two columns of its terminal free', () => {
  const [line] = stepLines([{ step: 'tool', verdict: 'pass', facts: { a: 'x'.repeat(200) }, micros: 1 }], {
    ...io,
    columns: 80,
  })
  assert.equal(widthOf(line!), 78)
})

test('a fault has its code once, and a port that is taken is told with what to do', () => {
  const told = (fault: Error & { code?: string; port?: number }): string => {
    const lines: string[] = []
    tellFault(fault, { json: false, err: (line) => void lines.push(line) })
    return lines.join('\n')
  }
  const exists = Object.assign(new Error("EEXIST: file already exists, open 'a'"), { code: 'EEXIST' })
  assert.equal(told(exists), "countersign: EEXIST: file already exists, open 'a'")
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', port: 7420 })
  assert.match(told(taken), /Port 7420 is taken\. Use --port 0, or another endpoint\.port\./)
})

test('times and sizes are told in the largest unit that fits', () => {
  assert.deepEqual([span(500), span(61_000), span(3 * 86_400_000)], ['500 ms', '1 min', '3 d'])
  assert.deepEqual([fromNow(10_000, 0), fromNow(0, 10_000)], ['in 10 s', '10 s ago'])
  assert.deepEqual([bytes(10), bytes(1536), bytes(50 * 1024 * 1024)], ['10 B', '1.5 KiB', '50 MiB'])
})

test('only the whole word is an answer to a question', () => {
  for (const answer of ['yes', ' YES ', 'Yes\t']) assert.equal(decisionOf(answer), 'granted')
  assert.equal(decisionOf('no'), 'denied')
  for (const answer of [undefined, '', 'y', 'n', 'yess', 'ye', 'yes please', '\n'])
    assert.equal(decisionOf(answer), undefined)
})

test('arguments are made of parts without reading what they hold', () => {
  assert.equal(argumentsText({}), '{}')
  assert.equal(
    argumentsText({ arg: ['a=1', 'b:=12345678901234567890', 'c=x=y', 'd:={"e":[1]}'] }),
    '{"a":"1","b":12345678901234567890,"c":"x=y","d":{"e":[1]}}',
  )
  assert.equal(argumentsText({ args: '{"a":1,"a":2}' }), '{"a":1,"a":2}')
  for (const arg of [['a'], ['=b'], ['a=1', 'a=2'], ['a:={']])
    assert.throws(() => argumentsText({ arg }), { code: 'USAGE' })
  assert.throws(() => argumentsText({ arg: ['a=1'], args: '{}' }), { code: 'USAGE' })
})

test('a target is named by the server’s own names, slashes in the tool’s included, or by the exported one', () => {
  assert.deepEqual(targetOf('s/a/b'), { server: 's', name: 'a/b' })
  assert.deepEqual(targetOf('s__a'), { exported: 's__a' })
  for (const named of ['/a', 's/', '/']) assert.throws(() => targetOf(named), { code: 'USAGE' })
})
