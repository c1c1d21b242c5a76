import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { membersOf, spanOf } from './members.ts'
import { idAtEnds, readMessage } from './message.ts'

const read = (text: string): ReturnType<typeof readMessage> => readMessage(Buffer.from(text))

test('the result is cut out of the reply byte for byte, whatever the order of the members and the blanks between them', () => {
  const result = '{ "content": [ {"type":"text","text":"a \\"quoted\\" } and \\\\"} ],"n":1.0e1, "ü":"\\u00fc" }'
  for (const text of [
    `{"jsonrpc":"2.0","id":5,"result":${result}}`,
    `{"result":${result},"jsonrpc":"2.0","id":5}`,
    ` {\t"id" : 5 , "extra":[{"result":{}}], "result" : ${result} ,"jsonrpc":"2.0" }\r`,
  ]) {
    const message = read(text)
    assert.ok(message.kind === 'reply')
    assert.equal(Buffer.from(message.bytes).toString('utf8'), result)
    assert.deepEqual(message.value, JSON.parse(result))
    assert.equal(message.id, 5)
  }
})

test('for any value of any member, the span of each member is the text that it was written with', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.json({ maxDepth: 4 }), { maxKeys: 8 }), (object) => {
      const keys = Object.keys(object).filter((key) => JSON.stringify(key) === `"${key}"`)
      const text = `{${keys.map((key) => ` "${key}" :\n${object[key]} `).join(',')}}`
      const bytes = Buffer.from(text)
      const members = membersOf(bytes)
      assert.ok(typeof members !== 'string')
      for (const key of keys) {
        const latin = Buffer.from(key).toString('latin1')
        const span = spanOf(members, latin)
        assert.ok(span)
        assert.equal(bytes.toString('utf8', span.from, span.to), object[key])
      }
    }),
  )
})

test('the depth is counted, also far beyond what could be parsed', () => {
  const depth = (text: string): unknown => (membersOf(Buffer.from(text)) as { deepest: number }).deepest
  assert.equal(depth('{}'), 1)
  assert.equal(depth('{"a":1,"b":[],"c":[{"d":"[[[["}]}'), 3)
  assert.equal(depth(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`), 200_001)
})

test('what two readers could understand differently is garbage', () => {
  const garbage: [string, string][] = [
    ['{"jsonrpc":"2.0","id":1,"result":{},"result":{}}', 'a key stands twice'],
    ['{"jsonrpc":"2.0","id":1,"result":{},"r\\u0065sult":{}}', 'a key is written with escapes'],
    ['{"jsonrpc":"2.0","id":1,"result":{}} {}', 'more than one value'],
    ['[{"jsonrpc":"2.0","id":1,"result":{}}]', 'not an object'],
    [`{${Array.from({ length: 65 }, (_, n) => `"${n}":1`).join(',')}}`, 'too many members'],
  ]
  for (const [text, why] of garbage) assert.deepEqual(read(text), { kind: 'garbage', why })
})

test('garbage says whose answer it was meant to be, where that can be seen', () => {
  assert.deepEqual(read('{"jsonrpc":"2.0","id":1,"result":"x"}'), {
    kind: 'garbage',
    why: 'the result is not an object',
    id: 1,
  })
  assert.deepEqual(read('{"jsonrpc":"2.0","id":1}'), { kind: 'garbage', why: 'neither a result nor an error', id: 1 })
  assert.deepEqual(read('{"id":1,"result":{}}'), { kind: 'garbage', why: 'not JSON-RPC 2.0', id: 1 })
  const deep = `{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(600)}${']'.repeat(600)}}}`
  assert.deepEqual(read(deep), { kind: 'garbage', why: 'nested deeper than 512', id: 1 })
  const bad = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"'),
    Buffer.from([0xff]),
    Buffer.from('"}}'),
  ])
  assert.deepEqual(readMessage(bad), { kind: 'garbage', why: 'not UTF-8', id: 1 })
  assert.deepEqual(read('{"jsonrpc":"2.0","id":1,"result":{x}}'), { kind: 'garbage', why: 'not JSON', id: 1 })
})

test('a reply that is cut anywhere is garbage', () => {
  const text = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}'
  for (let n = 0; n < text.length; n++) assert.equal(read(text.slice(0, n)).kind, 'garbage', text.slice(0, n))
  assert.equal(read(text).kind, 'reply')
})

test('errors, requests and notifications are told apart', () => {
  const error = { code: -32000, message: 'no', data: { a: 1 } }
  assert.deepEqual(read(JSON.stringify({ jsonrpc: '2.0', id: null, error })), { kind: 'error', id: null, ...error })
  assert.deepEqual(read('{"jsonrpc":"2.0","id":"a","method":"ping"}'), {
    kind: 'request',
    id: 'a',
    method: 'ping',
    params: {},
  })
  assert.deepEqual(read('{"jsonrpc":"2.0","method":"x","params":{"a":1}}'), {
    kind: 'notification',
    method: 'x',
    params: { a: 1 },
  })
  assert.equal(read('{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"y"}}').kind, 'garbage')
  assert.equal(read('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"y"}}').kind, 'garbage')
  assert.equal(read('{"jsonrpc":"2.0","id":1.5,"result":{}}').kind, 'garbage')
})

test('the id of a line that was too long is found at either end, and never inside it', () => {
  const at = (head: string, tail: string): unknown => idAtEnds(Buffer.from(head), Buffer.from(tail))
  assert.equal(at('{"jsonrpc":"2.0","id":5,"result":{"a":"xx', 'xx"}}'), 5)
  assert.equal(at('{"id":"a","jsonrpc":"2.0","result":{', '}}'), 'a')
  assert.equal(at('{"result":{"content":[', '"}]},"jsonrpc":"2.0","id":7}'), 7)
  assert.equal(at('{"result":{"content":[', '"}]},"id":7,"jsonrpc":"2.0"}'), 7)
  assert.equal(at('{"result":{"content":[', '"text":"\\"id\\":7"}]}}'), undefined)
  assert.equal(at('{"result":{"id":9,"content":[', '"x"]}}'), undefined)
  assert.equal(at('{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{', '}}'), undefined)
  assert.equal(at('{"method":"roots/list","params":{', '},"jsonrpc":"2.0","id":5}'), undefined)
})
