import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { openApproved, tokenOf, until } from '../hostile/attack.ts'

const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools: { slow: { effect: once, risk: low } }
consent: { rules: [{ name: all pass, decision: allow }] }
`
const legacy = '2025-11-25'
const modern = '2026-07-28'
const envelope = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientInfo': { name: 'leaver', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

interface Open {
  readonly gateway: RunningGateway
  readonly headers: Record<string, string>
}

async function open(t: TestContext): Promise<Open> {
  const site = makeSite(t, yaml)
  const gateway = await openApproved(t, site)
  const headers = {
    authorization: `Bearer ${tokenOf(site)}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  return { gateway, headers }
}

/** Posts the call, and tears the connection as soon as the operation is on its way. */
async function callAndLeave({ gateway }: Open, headers: Record<string, string>, params: object): Promise<void> {
  const post = request(gateway.url, { method: 'POST', headers })
  post.on('error', () => {})
  const gone = new Promise<void>((resolve) => void post.once('close', () => resolve()))
  post.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
  await until('it is sent', async () => {
    const [only] = await gateway.control.operations({ limit: 1 })
    return only?.state === 'dispatched'
  })
  post.destroy()
  await gone
}

/** What became of it although nobody waited: the answer is on record, and was not asked for twice. */
async function isRecorded({ gateway }: Open): Promise<void> {
  await until('its result is on record', async () => {
    const [only] = await gateway.control.operations({ limit: 1 })
    return only?.state === 'succeeded' && only.resultBytes > 0
  })
  assert.equal((await gateway.control.operations({ limit: 10 })).length, 1)
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
}

test('F52: a legacy client that goes away after the sending leaves the call running, and the result is recorded', async (t) => {
  const site = await open(t)
  const initialize = { protocolVersion: legacy, capabilities: {}, clientInfo: { name: 'leaver', version: '1' } }
  const shaken = await fetch(site.gateway.url, {
    method: 'POST',
    headers: site.headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize }),
  })
  await shaken.text()
  const headers = {
    ...site.headers,
    'mcp-session-id': shaken.headers.get('mcp-session-id')!,
    'mcp-protocol-version': legacy,
  }
  await callAndLeave(site, headers, { name: 'a__slow', arguments: { ms: 700 } })
  await isRecorded(site)
})

test('F52: a modern client whose going is a cancel leaves the call running too, since it may have had an effect', async (t) => {
  const site = await open(t)
  const headers = {
    ...site.headers,
    'mcp-protocol-version': modern,
    'mcp-method': 'tools/call',
    'mcp-name': 'a__slow',
  }
  await callAndLeave(site, headers, { name: 'a__slow', arguments: { ms: 700 }, _meta: envelope })
  await isRecorded(site)
})
