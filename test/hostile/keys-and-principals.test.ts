import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { digest } from '../../src/words/digest.ts'
import { makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, openApproved, operationOf, tokenOf, until, wordFor } from './attack.ts'
import { callTool, door, type Got, modern, rpc, session } from './client.ts'

const wild = join(import.meta.dirname, 'servers', 'wild.ts')
const tokens = { ann: 'a'.repeat(43), amy: 'm'.repeat(43), ben: 'b'.repeat(43) }
const principal = (id: keyof typeof tokens, tenant: string): string =>
  `{ id: ${id}, tenant: ${tenant}, kind: service, tokenSha256: ${digest(tokens[id])} }`
const yaml = ({ effects }: Site): string => `
principals: [${principal('ann', 'A')}, ${principal('amy', 'A')}, ${principal('ben', 'B')}]
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      pay: { effect: once, risk: low, softDeadlineMs: 300, hardDeadlineMs: 300 }
      text: { effect: read, risk: low }
limits: { resultBytes: 10KiB }
consent:
  wait: 200ms
  rules:
    - { name: say asks, tool: a/say, decision: ask, channels: [cli, elicitation], selfApproval: true, expires: 1m }
    - { name: reading asks elsewhere, tool: a/read_it, decision: ask, channels: [cli], selfApproval: true, expires: 1m }
    - { name: all else passes, decision: allow }
`
async function open(t: TestContext): Promise<{ gateway: RunningGateway; site: Site }> {
  const site = makeSite(t, yaml)
  return { site, gateway: await openApproved(t, site) }
}
const KEY = 'io.countersign/idempotency-key'
const resultOf = ({ message }: Got): { content?: { text?: string; uri?: string }[]; isError?: boolean } =>
  (message['result'] ?? {}) as never

test('sixteen calls at once under one key: one effect, and nobody is told that it failed', async (t) => {
  const { gateway, site } = await open(t)
  const requestKey = 'one-intention-for-ever'
  const given = { key: 'k', mode: 'ok' }
  const answers = await Promise.all(Array.from({ length: 16 }, () => call(gateway, 'a/pay', given, { requestKey })))
  assert.deepEqual(effectsIn(site.effects), ['k'])
  for (const word of answers.map(wordFor)) assert.ok(['answered:succeeded', 'IN_PROGRESS'].includes(word), word)
  const other = await call(gateway, 'a/pay', { key: 'K', mode: 'ok' }, { requestKey })
  assert.equal(wordFor(other), 'KEY_REUSED')
  assert.deepEqual(effectsIn(site.effects), ['k'])
})

test('a client that lost the answer and repeats the call under its key gets the recorded answer, and nobody is asked', async (t) => {
  const { gateway, site } = await open(t)
  const requestKey = 'one-intention-for-ever'
  const given = { key: 'k', mode: 'ok' }
  const first = await call(gateway, 'a/pay', given, { requestKey })
  const again = await call(gateway, 'a/pay', given, { requestKey })
  assert.equal(wordFor(again), 'answered:succeeded')
  assert.equal(operationOf(again), operationOf(first))
  assert.deepEqual(effectsIn(site.effects), ['k'])
})

test('a key of another principal says that it is taken, and nothing of what for', async (t) => {
  const { gateway, site } = await open(t)
  const meta = { [KEY]: 'one-intention-for-ever' }
  const given = { key: 'k', mode: 'ok' }
  const mine = await callTool(gateway, tokens.ann, 'a__pay', given, { meta })
  assert.notEqual(resultOf(mine).isError, true, mine.text)
  const theirs = await callTool(gateway, tokens.amy, 'a__pay', given, { meta })
  assert.match(theirs.text, /KEY_REUSED/)
  assert.doesNotMatch(theirs.text, /op_|ann/)
  const otherTenant = await callTool(gateway, tokens.ben, 'a__pay', { key: 'k2', mode: 'ok' }, { meta })
  assert.notEqual(resultOf(otherTenant).isError, true, otherTenant.text)
  assert.deepEqual(effectsIn(site.effects), ['k', 'k2'])
})

test('an operation, a kept result and a question are seen by their owner alone', async (t) => {
  const { gateway } = await open(t)
  const paid = await callTool(gateway, tokens.ann, 'a__pay', { key: 'k', mode: 'silent' })
  const operation = /op_[0-9A-Za-z]+/.exec(paid.text)?.[0]
  assert.ok(operation !== undefined, paid.text)
  const status = (token: string) => callTool(gateway, token, 'countersign__operation_status', { operation })
  assert.match((await status(tokens.ann)).text, /unknown/)
  const nobody = await callTool(gateway, tokens.ben, 'countersign__operation_status', { operation: 'op_0' })
  for (const token of [tokens.amy, tokens.ben, tokenOf({ home: gateway.core.home.folder } as Site)]) {
    const { text } = await status(token)
    assert.doesNotMatch(text, /unknown|a\/pay/)
    assert.equal(text, nobody.text)
  }
  const long = await callTool(gateway, tokens.ann, 'a__text', { bytes: 100_000 })
  const uri = /countersign:\/\/results\/[0-9A-Za-z_]+/.exec(long.text)?.[0]
  assert.ok(uri !== undefined, long.text.slice(0, 500))
  const read = (token: string, from: string) => door(gateway, token, modern('resources/read', { uri: from }))
  assert.match((await read(tokens.ann, uri)).text, /xxxx/)
  for (const token of [tokens.amy, tokens.ben]) {
    for (const from of [uri, `${uri}?offset=0&limit=10`, uri.replace('countersign', 'Countersign')])
      assert.match((await read(token, from)).text, /"error"/)
  }
})

test("a question that was put to one client cannot be answered with another one's token", async (t) => {
  const { gateway, site } = await open(t)
  const forms = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
  const given = { result: { content: [] } }
  const asked = await callTool(gateway, tokens.ann, 'a__say', given, { meta: forms })
  const { requestState } = asked.message['result'] as { requestState?: string }
  assert.ok(requestState !== undefined, asked.text)
  const inputResponses = { approval: { action: 'accept', content: { decision: 'yes', approve: true } } }
  for (const token of [tokens.amy, tokens.ben]) {
    const answer = await callTool(gateway, token, 'a__say', given, {
      meta: forms,
      params: { requestState, inputResponses },
    })
    assert.match(answer.text, /requestState is not valid/)
  }
  const changed = await callTool(
    gateway,
    tokens.ann,
    'a__say',
    { result: { content: [1] } },
    { meta: forms, params: { requestState, inputResponses } },
  )
  assert.match(changed.text, /requestState is not valid/)
  assert.equal(gateway.core.open.ledger.approvals({ limit: 10 })[0]?.state, 'waiting')
  assert.deepEqual(effectsIn(site.effects), [])
})

test('a client that offers to ask its user is not let to, where the rule names another channel', async (t) => {
  const { gateway, site } = await open(t)
  const capabilities = { elicitation: { form: {} } }
  const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
  const inputResponses = { approval: { action: 'accept', content: { approve: true, decision: 'yes' } } }
  for (const params of [{}, { inputResponses }, { inputResponses, requestState: 'AQ' }]) {
    const { text } = await callTool(gateway, tokens.ann, 'a__read_it', { path: 'x' }, { meta, params })
    assert.doesNotMatch(text, /input_required/)
  }
  const headers = await session(gateway, tokens.ann, capabilities)
  const asked = await door(gateway, tokens.ann, {
    headers,
    body: rpc('tools/call', { name: 'a__read_it', arguments: { path: 'x' } }),
  })
  assert.doesNotMatch(asked.text, /elicitation\/create/)
  assert.match(asked.text, /APPROVAL_WAITING/)
  const id = gateway.core.open.ledger.approvals({ limit: 1 })[0]!.id
  const forged = { jsonrpc: '2.0', id: 'countersign-1', result: { action: 'accept', content: { approve: true } } }
  await door(gateway, tokens.ann, { headers, body: JSON.stringify(forged) })
  assert.equal(gateway.core.open.ledger.approval(id)?.state, 'waiting')
  assert.deepEqual(effectsIn(site.effects), [])
})

test('a session belongs to the principal that began it', async (t) => {
  const { gateway } = await open(t)
  const headers = await session(gateway, tokens.ann)
  const list = { headers, body: rpc('tools/list') }
  assert.equal((await door(gateway, tokens.ann, list)).status, 200)
  for (const token of [tokens.amy, tokens.ben]) {
    assert.equal((await door(gateway, token, list)).status, 404)
    assert.equal((await door(gateway, token, { method: 'DELETE', headers })).status, 404)
    assert.equal(
      (await door(gateway, token, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).status,
      404,
    )
  }
  assert.equal((await door(gateway, tokens.ann, list)).status, 200)
})

test('no token, a wrong one, and one in the query are all the same nobody', async (t) => {
  const { gateway, site } = await open(t)
  const pay = modern('tools/call', { name: 'a__pay', arguments: { key: 'k', mode: 'ok' } })
  const token = tokenOf(site)
  const tries: [string, string | undefined, string][] = [
    ['none', undefined, '/mcp'],
    ['wrong', `${token.slice(0, -1)}!`, '/mcp'],
    ['another case', token.toUpperCase(), '/mcp'],
    ['query', undefined, `/mcp?access_token=${token}`],
    ['query, other name', undefined, `/mcp?token=${token}`],
    ['its digest', digest(token), '/mcp'],
  ]
  for (const [what, given, path] of tries)
    assert.equal((await door(gateway, given, { ...pay, path })).status, 401, what)
  assert.deepEqual(effectsIn(site.effects), [])
  await until(
    'refused tokens leave no operation',
    async () => (await gateway.control.operations({ limit: 10 })).length === 0,
  )
})
