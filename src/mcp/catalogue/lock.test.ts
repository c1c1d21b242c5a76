import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { parse } from 'yaml'
import { instructionsDigest, pinOf } from '../../flow/tool/definition.ts'
import type { Json, JsonObject } from '../../words/json.ts'
import { serverIdentity } from './identity.ts'
import { readOwnYaml } from './lock-reader.ts'
import { yamlOf } from './lock-text.ts'
import { type Lock, LockFault, lockText, parseLock, readLock, writeLock } from './lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'lock-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'countersign.lock.yaml')

const identity: JsonObject = { command: 'node', args: ['main.ts'], cwd: '.', env: [] }
const approved = { approvedAt: '2026-11-30T12:00:00.000Z', approvedBy: 'ada' }

function lockOf(definitions: readonly JsonObject[], instructions?: string): Lock {
  const about = { serverIdentity: serverIdentity(identity), instructions: instructionsDigest(instructions) }
  const tools = definitions.map((definition) => {
    const pin = pinOf({ kind: 'tool', definition, ...about })
    return [definition['name'] as string, { ...approved, definition, pin }] as const
  })
  const server = {
    ...approved,
    identity,
    identityDigest: about.serverIdentity,
    ...(instructions !== undefined && { instructions }),
  }
  return new Map([['notes', { ...server, tools: new Map(tools), prompts: new Map() }]])
}

const readNote: JsonObject = {
  name: 'read_note',
  description: 'Reads a note.\n\nOne line:\n  indented\n',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, limit: { type: 'integer', maximum: 1e21 } },
    required: ['path'],
  },
}

test('what was written is read back, and equal locks have equal bytes', () => {
  const lock = lockOf([readNote, { name: 'search', inputSchema: {} }], 'Be brief.\nBe kind.')
  writeLock(file, lock)
  assert.deepEqual(readLock(file), lock)
  const bytes = readFileSync(file)
  writeLock(file, lockOf([{ inputSchema: {}, name: 'search' }, readNote], 'Be brief.\nBe kind.'))
  assert.deepEqual(readFileSync(file), bytes)
  assert.deepEqual(readdirSync(folder), ['countersign.lock.yaml'])
})

test('the text is for people: one line per member, blocks for long texts, and nothing that is not seen', () => {
  const text = lockText(lockOf([{ ...readNote, title: 'odd\u200b\u{e0041}' }]))
  assert.match(text, /\n {10}description: \|\n {12}Reads a note\.\n\n {12}One line:\n {14}indented\n/)
  assert.match(text, /\n {14}path:\n {16}type: "string"\n/)
  assert.match(text, /title: "odd\\u200b\\U000e0041"/)
  assert.doesNotMatch(text, /\u200b/)
})

test('a file that is not there approves nothing', () => {
  assert.equal(readLock(join(folder, 'none.yaml')).size, 0)
})

test('a definition, an identity or instructions that were edited no longer fit their digests', () => {
  const text = lockText(lockOf([readNote], 'Be brief.'))
  const edits: [from: string, to: string, said: RegExp][] = [
    ['One line:', 'Any line:', /servers\.notes\.tools\.read_note\.pin: it is not the pin/],
    ['"Be brief."', '"Be brief!"', /servers\.notes\.tools\.read_note\.pin: it is not the pin/],
    ['"main.ts"', '"other.ts"', /servers\.notes\.identityDigest: it is not the digest/],
  ]
  for (const [from, to, said] of edits) {
    assert.ok(text.includes(from))
    assert.throws(
      () => parseLock(text.replace(from, to), 'f'),
      (fault) => fault instanceof LockFault && said.test(fault.message),
      from,
    )
  }
  assert.doesNotThrow(() => parseLock(text, 'f'))
})

test('an entry filed under another name than its definition has is a fault', () => {
  const text = lockText(lockOf([readNote]))
  assert.throws(
    () => parseLock(text.replace('      read_note:', '      other:'), 'f'),
    /tools\.other\.definition\.name/,
  )
})

test('what is not understood is a fault that says where', () => {
  const good = lockText(lockOf([readNote]))
  const cases: [text: string, said: RegExp][] = [
    ['version: 2', /version: expected version 1/],
    ['servers: {}', /version: expected version 1/],
    [`${good}more: 1\n`, /Unrecognized key: "more"/],
    [good.replace('approvedBy: "ada"', 'approvedBy: "ada"\n    note: 1'), /Unrecognized key: "note"/],
    [good.replace('approvedBy: "ada"', 'approvedBy: ""'), /servers\.notes.*approvedBy/],
    [good.replace('12:00:00.000Z', 'noon'), /approvedAt: expected a time/],
    [good.replace(/pin: "[0-9a-f]{64}"/, 'pin: "abc"'), /read_note\.pin: expected 64 hex digits/],
    [good.replace('version: 1', 'version: 1\nversion: 1'), /line \d+, column 1: Map keys must be unique/],
    ['version: 1\nservers: {a: &x {}, b: *x}', /[Aa]lias/],
    ['version: 1\nservers: !evil {}', /tag/],
    ['version: 1\nservers: []', /servers: expected a mapping/],
    ['[', /line 1/],
    ['', /the file/],
  ]
  for (const [text, said] of cases) {
    assert.throws(
      () => parseLock(text, 'countersign.lock.yaml'),
      (fault) => {
        assert.ok(fault instanceof LockFault, String(fault))
        assert.match(fault.message, /^countersign\.lock\.yaml: /)
        assert.match(fault.message, said)
        return true
      },
      text,
    )
  }
})

test('a lock that would not read back is not written, and the old file stays', () => {
  writeLock(file, lockOf([readNote]))
  const before = readFileSync(file, 'utf8')
  const [[name, server]] = [...lockOf([readNote])] as [[string, NonNullable<ReturnType<Lock['get']>>]]
  const wrong = new Map([[name, { ...server, instructions: 'not what was pinned' }]])
  assert.throws(() => writeLock(file, wrong), LockFault)
  assert.throws(
    () => writeLock(join(folder, 'no', 'such', 'folder.yaml'), lockOf([readNote])),
    /cannot be written \(ENOENT\)/,
  )
  assert.equal(readFileSync(file, 'utf8'), before)
  assert.deepEqual(readdirSync(folder), ['countersign.lock.yaml'])
})

test('names that every object inherits are names like any other', () => {
  const lock = lockOf(['__proto__', 'constructor', 'toString', '1', 'null'].map((name) => ({ name, inputSchema: {} })))
  writeLock(file, lock)
  assert.deepEqual([...readLock(file).get('notes')!.tools.keys()].sort(), [
    '1',
    '__proto__',
    'constructor',
    'null',
    'toString',
  ])
})

test('a file of another program is read by its meaning, not its spelling', () => {
  const lock = lockOf([readNote], 'x')
  writeFileSync(file, JSON.stringify(parse(lockText(lock))))
  assert.deepEqual(readLock(file), lock)
})

test('the quick reader takes what was written here, and leaves all else to the reader of all YAML', () => {
  for (const text of ['a: 1\n', 'a:\n  - "x"\n', '{}\n', '"x"\n']) assert.notEqual(readOwnYaml(text), undefined, text)
  const others = [
    'a: 1',
    'a:  1\n',
    'b: 1\na: 1\n',
    'a: 1\na: 1\n',
    'a: x\n',
    "a: 'x'\n",
    'a: &x 1\n',
    '# c\na: 1\n',
    'a: [1]\n',
    'a: 1.0\n',
    'a: 1 # c\n',
    'yes: 1\n',
    'a:\n    b: 1\n',
    '',
    '\n',
    'a:\n',
    '- 1\n',
    'a: "\\u0041"\n',
  ]
  for (const text of others) assert.equal(readOwnYaml(text), undefined, JSON.stringify(text))
})

test('any JSON is written as YAML that reads back as the same', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(' ', '\n', 'a', '#', ':', '-', '|', '"', '\\', '\t', '\r', '\u200b', '😀') }),
    fc.constantFrom(
      'yes',
      'null',
      '~',
      '1',
      '1e3',
      '0x1',
      '<<',
      '---',
      '...',
      '',
      ' a',
      'a ',
      '2026-11-30',
      '.inf',
      '\ufeff',
      '\u2028',
      '\u0085',
    ),
  )
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom<Json[]>(null, true, false, 0, -1, 1e21, [], {}),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    ) as fc.Arbitrary<Json>,
  }))
  fc.assert(
    fc.property(value, (json) => {
      const back = parse(yamlOf(json), { schema: 'core' }) as Json
      assert.deepEqual(JSON.parse(JSON.stringify(back)), JSON.parse(JSON.stringify(json)), yamlOf(json))
      assert.deepEqual(readOwnYaml(yamlOf(json)), JSON.parse(JSON.stringify(json)))
    }),
    { numRuns: 500 },
  )
})
