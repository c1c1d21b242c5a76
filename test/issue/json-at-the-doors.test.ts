import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { openHome } from '../../src/gateway/home.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { effectsIn, openApproved, tokenOf } from '../hostile/attack.ts'

const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools: { write_note: { effect: once, risk: low, repeat: allow } }
consent: { rules: [{ name: all pass, decision: allow }] }
`

// RFC 8259 values that a reader has to take, in place of the note's text.
const taken = [String.raw`"\u0061\n\t\"\\\/\b\f\r"`, String.raw`"\ud83d\ude00"`, '"é😀 \u2028"', '""', '"\u007f"']
// And what none has to take: not JSON, not UTF-8, or understood differently by two readers.
const refused: readonly (string | Buffer)[] = [
  '',
  "'x'",
  '"x',
  'x"',
  '"\t"',
  String.raw`"\x"`,
  String.raw`"\u12"`,
  String.raw`"\ud800"`,
  String.raw`"\udc00\ud800"`,
  '01',
  '-',
  '+1',
  '.5',
  '1.',
  '1e',
  '0x10',
  'NaN',
  'Infinity',
  '1e400',
  '9007199254740993',
  '- 1',
  '1_000',
  '[1,]',
  '[,1]',
  '[1 2]',
  '[',
  ']',
  '{"a":1,}',
  '{a:1}',
  '{"a"}',
  '{"a":}',
  '{"a":1 "b":2}',
  '{"a":1,"a":1}',
  'tru',
  'True',
  'nul',
  '/* */ 1',
  '// 1',
  '"a"#',
  '"\u0000"',
  '{"\\u0061":1,"a":2}',
  '"a","name":"b"',
  '['.repeat(100_000),
  '{"a":'.repeat(100_000),
  Buffer.from([0x22, 0xff, 0x22]),
  Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
  Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
]

function message(id: number, text: string | Buffer): Buffer {
  const head = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"a__write_note","arguments":{"name":"n${id}","text":`
  return Buffer.concat([Buffer.from(head), Buffer.from(text), Buffer.from('}}}')])
}

type Reply = {
  readonly id?: unknown
  readonly error?: { readonly code: number }
  readonly result?: { readonly isError?: boolean }
}
type Ask = (body: Buffer) => Promise<Reply>

async function judge(ask: Ask, site: Site): Promise<void> {
  let id = 100
  for (const text of taken) {
    const reply = await ask(message(++id, text))
    assert.equal(reply.error, undefined, text)
    assert.notEqual(reply.result?.isError, true, text)
  }
  const before = effectsIn(site.effects)
  assert.equal(before.length, taken.length)
  for (const text of refused) {
    const shown = text.toString().slice(0, 40)
    const reply = await ask(message(++id, text))
    assert.ok(reply.error !== undefined || reply.result?.isError === true, `taken: ${shown}`)
  }
  assert.deepEqual(effectsIn(site.effects), before)
  assert.equal((await ask(message(++id, '"still here"'))).error, undefined)
}

async function open(t: TestContext): Promise<{ gateway: RunningGateway; site: Site }> {
  const site = makeSite(t, yaml)
  return { site, gateway: await openApproved(t, site) }
}

const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'writer of JSON', version: '1' },
}
const initialize = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: handshake }))

test('F43: over HTTP what RFC 8259 allows is taken, what it forbids or leaves to the reader is refused, and nothing of it runs', async (t) => {
  const { gateway, site } = await open(t)
  const headers: Record<string, string> = {
    authorization: `Bearer ${tokenOf(site)}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const post = (body: Buffer): Promise<Response> => fetch(gateway.url, { method: 'POST', headers, body })
  const shaken = await post(initialize)
  await shaken.text()
  headers['mcp-session-id'] = shaken.headers.get('mcp-session-id')!
  headers['mcp-protocol-version'] = handshake.protocolVersion
  await judge(async (body) => {
    const text = await (await post(body)).text()
    return JSON.parse(text.startsWith('{') ? text : /^data: (\{.*)$/m.exec(text)![1]!) as Reply
  }, site)
})

test('F43: over the pipe the same holds, line by line, and the line after a bad one is read', async (t) => {
  const { site } = await open(t)
  const socket = connect(openHome(site.home).mcpSocket)
  t.after(() => socket.destroy())
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const ask: Ask = async (body) => {
    socket.write(Buffer.concat([body, Buffer.from('\n')]))
    for (;;) {
      const reply = JSON.parse(String((await lines.next()).value)) as Reply & { readonly method?: string }
      if (reply.method === undefined) return reply
    }
  }
  assert.equal((await ask(initialize)).error, undefined)
  socket.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  await judge(ask, site)
})
