import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseStrict } from './strict-json.ts'

const limits = { bytes: 1 << 20, depth: 64 }
const utf8 = (text: string) => new TextEncoder().encode(text)

/** The code of the refusal for both ways in, which must agree; `ok` where the value is taken. */
function verdict(text: string): string {
  const fromText = parseStrict(text, limits)
  const fromBytes = parseStrict(utf8(text), limits)
  assert.deepEqual(fromText, fromBytes)
  return fromText.ok ? 'ok' : fromText.code
}

test('well-formed values of every kind are taken', () => {
  const texts = [
    'null',
    ' true ',
    'false',
    '0',
    '-0',
    '12',
    '-1.5',
    '1e3',
    '1E+2',
    '1e-7',
    '""',
    '[]',
    '{}',
    '[[]]',
    '{"":{}}',
    '"\\u00e4\\n\\/\\""',
    '"\\ud83d\\ude00"',
    '"😀"',
    '"\u007f"',
    '"\u2028"',
    '[1,2,3]',
    '{"a":[{"a":1},{"a":2}]}',
    '\r\n\t [ 1 ,\t2 ] \n',
    '{"a":1,"A":2}',
    '[0.1,123456789012345,1234567.891234567890123]',
    '"\\\\"',
    '["\\\\",""]',
  ]
  for (const text of texts) {
    assert.equal(verdict(text), 'ok', text)
    assert.deepEqual(parseStrict(text, limits), { ok: true, value: JSON.parse(text) as unknown })
  }
})

test('what RFC 8259 does not allow is malformed', () => {
  const texts = [
    '',
    ' ',
    '{',
    '[',
    '}',
    ']',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1,,2]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{"a" 1}',
    '{a:1}',
    "{'a':1}",
    '{1:2}',
    '{"a":1 "b":2}',
    '{"a":1]',
    '[1}',
    '{}{}',
    '1 2',
    '[] x',
    ':',
    ',',
    '01',
    '-01',
    '-',
    '+1',
    '.5',
    '1.',
    '1.e1',
    '1e',
    '1e+',
    '0x10',
    'NaN',
    'Infinity',
    '-Infinity',
    '1_000',
    'tru',
    'nul',
    'True',
    'nulll',
    'truefalse',
    'undefined',
    '"',
    '"abc',
    '"\\"',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"a\nb"',
    '"\t"',
    '"\u0000"',
    '// x\n1',
    '[1/**/]',
    '\u00a01',
    '\u20281',
    '["a":1]',
    '{"a":1:2}',
    '{"a"::1}',
    '[1:2]',
    `"${'x'.repeat(100)}\n"`,
    `"${'x'.repeat(100)}`,
  ]
  for (const text of texts) assert.equal(verdict(text), 'MALFORMED', JSON.stringify(text))
})

test('a repeated key is found in every object, also behind escapes and among many', () => {
  const many = Array.from({ length: 40 }, (_, n) => `"k${n}":${n}`).join(',')
  const texts = [
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '[{"x":{"a":1,"a":2}}]',
    '{"a":1,"\\u0061":2}',
    '{"\\/":1,"/":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":{"b":1},"c":[{"b":1}],"a":1}',
    `{${many},"k39":1}`,
    `{${many},"k3":1}`,
    '{"😀":1,"\\ud83d\\ude00":2}',
  ]
  for (const text of texts) assert.equal(verdict(text), 'DUPLICATE_KEY', text)
  assert.equal(verdict(`{${many},"k40":1}`), 'ok')
  assert.equal(verdict('{"a":"a","b":["a","a"],"c":{"a":1}}'), 'ok')
})

test('a number that a double does not hold exactly is out of range', () => {
  const beyond = [
    '9007199254740992',
    '-9007199254740992',
    '9007199254740993',
    '12345678901234567890',
    '1e400',
    '-1e400',
    '1e16',
    '1E22',
    '9007199254740993.0',
    '9007199254740992e0',
    '0.9007199254740993e16',
    `1${'0'.repeat(400)}`,
    '1.5e300',
  ]
  for (const text of beyond) {
    assert.equal(verdict(text), 'NUMBER_OUT_OF_RANGE', text)
    assert.equal(verdict(`{"a":[${text}]}`), 'NUMBER_OUT_OF_RANGE', text)
  }
  for (const text of ['9007199254740991', '-9007199254740991', '9e15', '9007199254740991.0', '0.1e-400', '1e-7']) {
    assert.equal(verdict(text), 'ok', text)
  }
})

test('lone surrogates are malformed, written out or escaped, in values and in keys', () => {
  const escaped = [
    '\\ud800',
    '\\udc00',
    'x\\uD83Dx',
    '\\ud83d\\u0041',
    '\\ude00\\ud83d',
    '\\ud83d\\n',
    '\\ud83d😀',
    '\\uDBFF\\uD800',
  ]
  for (const text of escaped) {
    assert.equal(verdict(`"${text}"`), 'MALFORMED', text)
    assert.equal(verdict(`{"${text}":1}`), 'MALFORMED', text)
  }
  assert.deepEqual(parseStrict('["a\ud800"]', limits), {
    ok: false,
    code: 'MALFORMED',
    at: 3,
    detail: 'a lone surrogate',
  })
  // The same in bytes (CESU-8) is not UTF-8.
  assert.equal(parseStrict(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), limits).ok, false)
})

test('bytes that are not UTF-8 are malformed, and the place is the first bad byte', () => {
  const good = utf8('["é\ufffd')
  for (const bad of [[0xff], [0xc0, 0xaf], [0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80], [0x80]]) {
    const parsed = parseStrict(Uint8Array.of(...good, ...bad, 0x22, 0x5d), limits)
    assert.deepEqual(parsed, { ok: false, code: 'MALFORMED', at: good.length, detail: 'not UTF-8' })
  }
})

test('a byte order mark is malformed at the beginning and a character inside a string', () => {
  assert.equal(verdict('\ufeff{}'), 'MALFORMED')
  assert.equal(verdict('{"a":"\ufeff"}'), 'ok')
  assert.equal(verdict('{}\ufeff'), 'MALFORMED')
})

test('depth is counted in open brackets, and a bomb of a hundred thousand is refused without recursion', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  assert.equal(verdict(nested(64)), 'ok')
  assert.equal(verdict(nested(65)), 'TOO_DEEP')
  assert.equal(verdict('{"a":'.repeat(65)), 'TOO_DEEP')
  assert.deepEqual(parseStrict(nested(100_000), limits), {
    ok: false,
    code: 'TOO_DEEP',
    at: 64,
    detail: 'nested deeper than 64',
  })
  assert.equal(parseStrict('1', { bytes: 10, depth: 0 }).ok, true)
  assert.equal(parseStrict('[]', { bytes: 10, depth: 0 }).ok, false)
})

test('size is counted in bytes of UTF-8', () => {
  const small = { bytes: 6, depth: 4 }
  assert.equal(parseStrict('"éé"', small).ok, true)
  assert.deepEqual(parseStrict('"ééé"', small), { ok: false, code: 'TOO_LARGE', at: 6, detail: 'more than 6 bytes' })
  assert.equal(parseStrict(utf8('"ééé"'), small).ok, false)
})

test('__proto__ stays an own key that changes nothing', () => {
  const parsed = parseStrict('{"__proto__":{"admin":true},"constructor":1}', limits)
  assert.ok(parsed.ok)
  assert.deepEqual(Object.keys(parsed.value as object), ['__proto__', 'constructor'])
  assert.equal((parsed.value as { admin?: boolean }).admin, undefined)
  assert.equal(Object.getPrototypeOf(parsed.value), Object.prototype)
})

test('the place where reading stopped is named, also inside a long string', () => {
  const at = (text: string) => {
    const parsed = parseStrict(text, limits)
    return parsed.ok ? -1 : parsed.at
  }
  assert.equal(at('{"a":1,}'), 7)
  assert.equal(at('{"a":1,"b":2,"a":3}'), 13)
  assert.equal(at('[1,2'), 4)
  assert.equal(at(`["${'x'.repeat(100)}\u0001"]`), 102)
  assert.equal(at('[1e999]'), 1)
})

test('no refusal quotes what was sent', () => {
  for (const text of ['"hunter2', '{"hunter2":1,"hunter2":2}', 'hunter2', '["hunter2\n"]']) {
    assert.doesNotMatch(JSON.stringify(parseStrict(text, limits)), /hunter2/)
  }
})

test('it agrees with JSON.parse on whatever JSON.stringify writes, with any spacing', () => {
  const inRange = (_: string, value: unknown) => (typeof value === 'number' && !fitsExactly(value) ? 0 : value)
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom('', ' ', '\t'), (value, indent) => {
      const text = JSON.stringify(value, inRange, indent)
      assert.deepEqual(parseStrict(text, limits), { ok: true, value: JSON.parse(text) as unknown })
    }),
  )
})

test('it takes no text that JSON.parse refuses, and malformed is what both refuse', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '"a"',
    '"b"',
    '1',
    '-',
    '.5',
    'e1',
    'true',
    'null',
    ' ',
    '\\',
    '\\u',
    '0041',
    '\n',
    'x',
  )
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
      (text) => {
        let native = true
        try {
          JSON.parse(text)
        } catch {
          native = false
        }
        const strict = verdict(text)
        if (!native) assert.notEqual(strict, 'ok', JSON.stringify(text))
        if (strict === 'MALFORMED') assert.equal(native, false, JSON.stringify(text))
      },
    ),
    { numRuns: 3000 },
  )
})

function fitsExactly(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value)
}
