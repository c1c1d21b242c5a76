import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../src/words/json.ts'
import { effects, everything, openAsking, type Opened } from '../fixtures/asking-site.ts'

// Between two rounds a call of a modern client is held by a name in a sealed state: who may come back with it, and with what.

const OTHER = 'the-token-of-somebody-else'
const config = {
  principals: [{ id: 'other', tenant: 'local', tokenSha256: createHash('sha256').update(OTHER).digest('hex') }],
}

interface Got {
  readonly status: number
  readonly result?: JsonObject & { readonly requestState?: string; readonly inputRequests?: JsonObject }
  readonly error?: { readonly code: number; readonly data?: JsonObject }
  readonly text: string
}

async function post({ gateway, site }: Opened, params: JsonObject, token?: string): Promise<Got> {
  const own = token ?? readFileSync(join(site.home, 'token'), 'utf8').trim()
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {}, roots: {} },
  }
  const body = { jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'desk__weigh', ...params, _meta: meta } }
  const answer = await fetch(gateway.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${own}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'desk__weigh',
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await answer.text()
  return { status: answer.status, text, ...(JSON.parse(text) as object) }
}

const heavy = { action: 'accept', content: { kilograms: 1.5, fragile: false } }
const given = { arguments: { n: 'x' } }

function stateOf({ result, text }: Got): string {
  assert.equal(result?.['resultType'], 'input_required', text)
  return result?.requestState as string
}

function back(got: Got, value: unknown = heavy): JsonObject {
  const [key] = Object.keys(got.result?.inputRequests ?? {})
  return { requestState: stateOf(got), inputResponses: { [key!]: value as JsonObject } }
}

for (const era of ['legacy', 'modern'] as const) {
  test(`${era} server: the state is of use to its own caller, for the same request, while the call is open`, async (t) => {
    const opened = await openAsking(t, era, 'http', everything, { config })
    const asked = await post(opened, given)
    assert.doesNotMatch(asked.text, /a state of the server/)
    const answers = back(asked)
    const state = stateOf(asked)
    const refused = async (what: Promise<Got>) => assert.equal((await what).error?.code, -32602)
    await refused(post(opened, { ...given, ...answers, requestState: `${state}A` }))
    await refused(post(opened, { ...given, ...answers }, OTHER))
    await refused(post(opened, { arguments: { n: 'y' }, ...answers }))
    assert.deepEqual(effects(opened.site), [], 'none of these reached the server')
    const done = await post(opened, { ...given, ...answers })
    assert.equal(done.result?.['resultType'], 'complete', done.text)
    await refused(post(opened, { ...given, ...answers }))
    assert.deepEqual(effects(opened.site), ['weigh'])
    assert.deepEqual((await opened.gateway.control.verifyEvidence()).why, [])
  })

  test(`${era} server: an answer that is missing or does not fit is asked for again, and the call runs once`, async (t) => {
    const opened = await openAsking(t, era, 'http')
    let asked = await post(opened, given)
    for (const wrong of [
      12345,
      { action: 'accept', content: { kilograms: 'heavy', fragile: true } },
      { action: 'yes' },
    ])
      asked = await post(opened, { ...given, ...back(asked, wrong) })
    asked = await post(opened, { ...given, requestState: stateOf(asked), inputResponses: { unknown: heavy } })
    const done = await post(opened, { ...given, ...back(asked) })
    assert.equal(done.result?.['resultType'], 'complete', done.text)
    assert.deepEqual(effects(opened.site), ['weigh'])
  })

  test(`${era} server: the same call sent anew takes up the open one, and is not a second one`, async (t) => {
    const opened = await openAsking(t, era, 'http')
    await post(opened, given)
    const again = await post(opened, given)
    const done = await post(opened, { ...given, ...back(again) })
    assert.equal(done.result?.['resultType'], 'complete', done.text)
    assert.deepEqual(effects(opened.site), ['weigh'])
  })

  test(`${era} server: a client that stays away has cancelled the question, and may still hear what came of the call`, async (t) => {
    const opened = await openAsking(t, era, 'http', everything, { config: { limits: { askWait: '300ms' } } })
    const asked = await post(opened, given)
    const until = Date.now() + 30_000
    while (effects(opened.site).length === 0 && Date.now() < until) await sleep(20)
    const late = await post(opened, { ...given, ...back(asked) })
    assert.match(JSON.stringify(late.result?.['content']), /cancel/)
    assert.deepEqual(effects(opened.site), ['weigh'])
  })

  test(`${era} server: what it asks beyond the bounds is refused, and nobody is asked`, async (t) => {
    for (const limits of [{ asksPerCall: 0 }, { askBytes: 20 }]) {
      const opened = await openAsking(t, era, 'http', everything, { config: { limits } })
      const got = await post(opened, given)
      assert.notEqual(got.result?.['resultType'], 'input_required')
      assert.notEqual(got.error, undefined, got.text)
      assert.deepEqual(effects(opened.site), [])
    }
  })
}
