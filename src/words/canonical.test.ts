import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CanonicalFault, canonical } from './canonical.ts'
import type { Json } from './json.ts'
import { parseStrict } from './strict-json.ts'

// RFC 8785, appendix B: the bits of a double, and its text.
const numbers: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
]

test('numbers are written as RFC 8785 appendix B lists them', () => {
  for (const [bits, text] of numbers) {
    assert.equal(canonical(Buffer.from(bits, 'hex').readDoubleBE()), text, bits)
  }
})

test('NaN and the infinities have no canonical form', () => {
  for (const bits of ['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000']) {
    const number = Buffer.from(bits, 'hex').readDoubleBE()
    assert.throws(() => canonical([number]), { name: 'CanonicalFault', code: 'NOT_FINITE' })
  }
})

test('keys are sorted by UTF-16 code units, as in RFC 8785 section 3.2.3', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  const names = (
    JSON.parse(
      `[${canonical(value)
        .slice(1, -1)
        .replaceAll(/("(?:[^"\\]|\\.)*"):/g, '$1,')}]`,
    ) as string[]
  ).filter((_, n) => n % 2 === 1)
  assert.deepEqual(names, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
})

test('the example of RFC 8785 section 3.2.2 has the published bytes', () => {
  const input = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
  assert.equal(
    canonical(JSON.parse(input) as Json),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
})

test('control characters have the escapes of RFC 8785 section 3.2.2.2 and all else stands as it is', () => {
  assert.equal(
    canonical('\b\t\n\f\r"\\/\u0000\u001f\u007f\u2028é'),
    '"\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u001f\u007f\u2028é"',
  )
})

test('an own __proto__ is a key like any other', () => {
  assert.equal(canonical(JSON.parse('{"b":1,"__proto__":{"x":1},"a":2}') as Json), '{"__proto__":{"x":1},"a":2,"b":1}')
})

test('what is not JSON is a fault with a code, never a silent gap', () => {
  const faults: readonly (readonly [unknown, string])[] = [
    [{ a: undefined }, 'NOT_JSON'],
    [[undefined], 'NOT_JSON'],
    [Array(1), 'NOT_JSON'],
    [10n, 'NOT_JSON'],
    [() => 1, 'NOT_JSON'],
    ['\ud800', 'LONE_SURROGATE'],
    [{ 'a\udc00': 1 }, 'LONE_SURROGATE'],
  ]
  for (const [value, code] of faults) {
    assert.throws(
      () => canonical(value as Json),
      (fault) => fault instanceof CanonicalFault && fault.code === code,
      code,
    )
  }
})

test('depth counts open objects and arrays, and the limit itself is allowed', () => {
  assert.equal(canonical([[1]], 2), '[[1]]')
  assert.throws(() => canonical([[[1]]], 2), { code: 'TOO_DEEP' })
  let deep: Json = 1
  for (let n = 0; n < 100_000; n++) deep = [deep]
  assert.throws(() => canonical(deep), { code: 'TOO_DEEP' })
})

test('a canonical text is its own canonical text, whatever the order of the keys was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const once = canonical(value as Json)
      assert.equal(canonical(JSON.parse(once) as Json), once)
      assert.equal(canonical(backwards(value as Json)), once)
    }),
  )
})

test('a canonical text passes the strict parser unless a number lies beyond it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const parsed = parseStrict(canonical(value as Json), { bytes: 1 << 20, depth: 64 })
      if (parsed.ok) assert.equal(canonical(parsed.value), canonical(value as Json))
      else assert.equal(parsed.code, 'NUMBER_OUT_OF_RANGE')
    }),
  )
})

function backwards(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => backwards(item as Json))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toReversed()
  return Object.fromEntries(entries.map(([key, item]) => [key, backwards(item as Json)]))
}
