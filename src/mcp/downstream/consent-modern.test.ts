import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Answer, Caller } from '../../flow/answer.ts'
import type { Approval } from '../../flow/consent/consented.ts'
import type { JsonObject } from '../../words/json.ts'
import { refuse } from '../../words/verdict.ts'
import { type Got, ask, envelope, errorOf, modern, served, until } from './asking.test.ts'
import { refused } from './refused.ts'
import { type StandIn, said } from './stand-in.test.ts'

const FORMS = { elicitation: { form: {} } }
const call = { name: 'files__delete', arguments: { path: 'notes.md' } }
const yes = { approval: { action: 'accept', content: { decision: 'approve' } } }

/** A tool that needs a yes for each set of arguments, and runs once for each. */
function asksFirst(ports: StandIn): { runs: number; callers: Caller[]; expiresIn: number } {
  const seen = { runs: 0, callers: [] as Caller[], expiresIn: 60_000 }
  const open = new Map<string, Approval>()
  const denied = () => new Set(ports.answers.filter((one) => one.decision === 'denied').map((one) => one.approval))
  ports.tools.set('files__delete', async (request, caller): Promise<Answer> => {
    seen.callers.push(caller)
    const key = createHash('sha256').update(JSON.stringify(request.arguments)).digest('hex')
    const approval = open.get(key) ?? { ...ports.approval(), expiresAt: Date.now() + seen.expiresIn }
    open.set(key, approval)
    if (denied().has(approval.id)) return { ...refused('APPROVAL_DENIED'), approval: approval.id }
    if (ports.granted.has(approval.id)) {
      open.delete(key)
      seen.runs++
      return said('deleted')
    }
    if (caller.consent === 'defer') return { kind: 'asked', approval, steps: [] }
    return { ...refused('APPROVAL_WAITING'), approval: approval.id }
  })
  return seen
}

function first(url: string, headers: Record<string, string> = {}): Promise<Got> {
  return ask(url, modern('tools/call', call, { meta: envelope(FORMS), headers }))
}

function retry(url: string, params: JsonObject, headers: Record<string, string> = {}): Promise<Got> {
  return ask(url, modern('tools/call', { ...call, ...params }, { meta: envelope(FORMS), headers, id: 2 }))
}

function resultOf(got: Got): JsonObject {
  return (got.json['result'] ?? {}) as JsonObject
}

test('the official modern client puts the question to its user, and the call runs once', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  const client = new Client(
    { name: 'modern', version: '1' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  let decision = 'approve'
  const asked: JsonObject[] = []
  client.setRequestHandler('elicitation/create', (request) => {
    asked.push(request.params as never)
    return { action: 'accept', content: { decision } }
  })
  const requestInit = { headers: { authorization: 'Bearer alice' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  const ran = await client.callTool({ name: 'files__delete', arguments: { path: 'a' } })
  assert.deepEqual(ran.content, [{ type: 'text', text: 'deleted' }])
  assert.equal(seen.runs, 1)
  assert.equal(asked[0]!['message'], 'Delete the file notes.md?')
  assert.deepEqual(ports.answers[0], { approval: 'apr_1', by: 'alice', decision: 'granted' })

  decision = 'deny'
  const denied = await client.callTool({ name: 'files__delete', arguments: { path: 'b' } })
  assert.equal(denied.isError, true)
  assert.match(JSON.stringify(denied.content), /APPROVAL_DENIED/)
  assert.equal(seen.runs, 1)
  await client.close()
})

test('a question is a result of its own kind; nothing in it can be read or used for anything else', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  const question = resultOf(await first(url))
  assert.equal(question['resultType'], 'input_required')
  const request = (question['inputRequests'] as JsonObject)['approval'] as JsonObject
  assert.equal(request['method'], 'elicitation/create')
  const state = question['requestState'] as string
  assert.doesNotMatch(Buffer.from(state, 'base64url').toString('latin1'), /apr_|alice|acme/)

  const missing = resultOf(await retry(url, { requestState: state }))
  assert.equal(missing['resultType'], 'input_required', 'asked again where the answer is missing')
  const unclear = { approval: { action: 'accept', content: { decision: 'maybe' } } }
  assert.equal(
    resultOf(await retry(url, { requestState: state, inputResponses: unclear }))['resultType'],
    'input_required',
  )
  const others = { other: { action: 'accept', content: { decision: 'approve' } } }
  assert.equal(
    resultOf(await retry(url, { requestState: state, inputResponses: others }))['resultType'],
    'input_required',
  )
  assert.deepEqual(ports.answers, [])

  const ran = resultOf(await retry(url, { requestState: state, inputResponses: { ...others, ...yes } }))
  assert.deepEqual(ran['content'], [{ type: 'text', text: 'deleted' }])
  const again = resultOf(await retry(url, { requestState: state, inputResponses: yes }))
  assert.equal(again['resultType'], 'input_required', 'a state that was used says yes to nothing new')
  assert.equal(seen.runs, 1)
})

test('a state that is not ours, not this caller’s, not for this request, or too old is refused', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  const state = resultOf(await first(url))['requestState'] as string
  const refusals: readonly (readonly [string, JsonObject, Record<string, string>?])[] = [
    ['changed', { requestState: `${state.slice(0, -2)}${state.at(-2) === 'A' ? 'B' : 'A'}${state.at(-1)}` }],
    ['cut', { requestState: state.slice(0, -1) }],
    ['longer', { requestState: `${state}A` }],
    ['invented', { requestState: 'e30' }],
    ['empty', { requestState: '' }],
    ['no text', { requestState: 7 }],
    ['for other arguments', { requestState: state, arguments: { path: 'other.md' } }],
    ['with another member', { requestState: state, extra: 1 }],
    ['of another principal', { requestState: state }, { authorization: 'Bearer bob' }],
    ['of another tenant', { requestState: state }, { authorization: 'Bearer alice-other' }],
  ]
  for (const [what, params, headers] of refusals) {
    const got = await retry(url, { ...params, inputResponses: yes }, headers)
    assert.equal(errorOf(got)?.code, -32602, `${what}: ${got.text}`)
  }
  const prompt = modern('prompts/get', { ...call, requestState: state, inputResponses: yes }, { meta: envelope(FORMS) })
  assert.equal(errorOf(await ask(url, prompt)).code, -32602, 'for another method')
  assert.deepEqual([ports.answers.length, seen.runs, ports.calls.length], [0, 0, 1])

  const elsewhere = await served(t)
  assert.equal(errorOf(await retry(elsewhere.url, { requestState: state, inputResponses: yes })).code, -32602)
})

test('a question expires with its approval', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  seen.expiresIn = 30
  const state = resultOf(await first(url))['requestState'] as string
  const expired = Date.now() + 40
  await until(() => Date.now() >= expired, 'time passes')
  assert.equal(errorOf(await retry(url, { requestState: state, inputResponses: yes })).code, -32602)
  assert.deepEqual(ports.answers, [])
})

test('a person who puts the question away has decided nothing: the call ends and says how to answer later', async (t) => {
  const { url, ports } = await served(t)
  asksFirst(ports)
  const state = resultOf(await first(url))['requestState'] as string
  const got = resultOf(await retry(url, { requestState: state, inputResponses: { approval: { action: 'cancel' } } }))
  assert.equal(got['isError'], true)
  assert.match(JSON.stringify(got), /APPROVAL_WAITING.*apr_1/)
  assert.deepEqual([ports.answers.length, ports.calls.length], [0, 1])
})

test('a yes that does not count is said to be none, and the call is not made', async (t) => {
  const { url, ports } = await served(t)
  asksFirst(ports)
  const state = resultOf(await first(url))['requestState'] as string
  ports.answerRefusal = refuse('CONSENT_RULE_DENIES', { why: 'nobody says yes to their own call here' })
  const got = resultOf(await retry(url, { requestState: state, inputResponses: yes }))
  assert.match(JSON.stringify(got), /CONSENT_RULE_DENIES/)
  assert.equal(ports.calls.length, 1)
})

test('a modern client without forms is not asked, and waits like any other', async (t) => {
  const { url, ports } = await served(t)
  const seen = asksFirst(ports)
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    const got = await ask(url, modern('tools/call', call, { meta: envelope(capabilities) }))
    assert.match(got.text, /APPROVAL_WAITING/)
  }
  assert.ok(seen.callers.every((caller) => caller.consent === 'wait' && caller.elicit === undefined))
})

test('a modern client cancels by closing its stream', async (t) => {
  const { url, ports } = await served(t)
  let signal: AbortSignal | undefined
  ports.tools.set('slow', (_request, _caller, given) => {
    signal = given
    return new Promise(() => {})
  })
  const left = new AbortController()
  const { headers, body } = modern('tools/call', { name: 'slow' })
  const all = { authorization: 'Bearer alice', 'content-type': 'application/json', ...headers } as Record<
    string,
    string
  >
  const gone = fetch(url, { method: 'POST', headers: all, body: body as string, signal: left.signal }).catch(
    () => 'gone',
  )
  await until(() => signal !== undefined, 'the call began')
  assert.equal(signal!.aborted, false)
  left.abort()
  await gone
  await until(() => signal!.aborted, 'the flow was told')
})
