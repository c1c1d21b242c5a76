import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Context, type Span, type SpanOptions, trace, type TracerProvider } from '@opentelemetry/api'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { join } from 'node:path'
import { approveOffered, fixture, makeSite, openGateway } from '../fixtures/site.ts'

interface Seen {
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  readonly gates: string[]
  ended: boolean
}

const seen: Seen[] = []
const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b9c7c989f97918e1'

/** What a program that embeds us would register: an SDK is not among our packages. */
function spanOf(name: string, options: SpanOptions | undefined, parent: Context | undefined): Span {
  const note: Seen = {
    name,
    parent: parent === undefined ? undefined : trace.getSpanContext(parent)?.spanId,
    attributes: { ...options?.attributes },
    gates: [],
    ended: false,
  }
  seen.push(note)
  const span: Span = {
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    isRecording: () => true,
    setAttribute: (key, value) => ((note.attributes[key] = value), span),
    setAttributes: (attributes) => (Object.assign(note.attributes, attributes), span),
    addEvent: (_name, attributes) => {
      note.gates.push(String((attributes as Record<string, unknown>)['countersign.gate']))
      return span
    },
    addLink: () => span,
    addLinks: () => span,
    setStatus: () => span,
    updateName: () => span,
    recordException: () => {},
    end: () => void (note.ended = true),
  }
  return span
}

trace.setGlobalTracerProvider({
  getTracer: () => ({
    startSpan: (name: string, options?: SpanOptions, parent?: Context) => spanOf(name, options, parent),
    startActiveSpan: () => assert.fail('nothing is active here'),
  }),
} as unknown as TracerProvider)

test('a call is a span under the caller’s, the upstream’s parent is ours, and Prometheus and the log see no arguments', async (t) => {
  const site = makeSite(
    t,
    ({ effects }) => `
servers:
  notes: { command: node, args: [${fixture('honest')}, --effects, ${effects}], tools: { echo: { effect: read, risk: low } } }
consent: { rules: [{ name: all pass, decision: allow }] }
telemetry: { prometheus: { port: 0 } }
`,
  )
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const transport = new StreamableHTTPClientTransport(new URL(gateway.url), {
    requestInit: { headers: { authorization: `Bearer ${readFileSync(join(site.home, 'token'), 'utf8').trim()}` } },
  })
  const client = new Client({ name: 'a client', version: '1.0.0' })
  await client.connect(transport)
  t.after(() => client.close())
  const _meta = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
  await client.callTool({ name: 'notes__echo', arguments: { text: 'private words' }, _meta })
  const refused = await client.callTool({ name: 'notes__echo', arguments: { text: 5 }, _meta })
  assert.equal(refused.isError, true)

  const text = await (await fetch(gateway.metricsUrl!)).text()
  assert.match(text, /countersign_calls\{tool="notes__echo",outcome="answered",code=""\} 1/)
  assert.match(text, /countersign_calls\{tool="unknown",outcome="refused",code="ARGUMENTS_INVALID"\} 1/)
  assert.match(
    text,
    /mcp_server_operation_duration_bucket\{mcp_method_name="tools\/call",gen_ai_tool_name="notes__echo",le="\+Inf"\} 1/,
  )
  assert.match(text, /countersign_gate_duration_count\{gate="tool",verdict="refuse"\} 1/)
  assert.match(text, /countersign_waiting_approvals 0/)
  assert.doesNotMatch(text, /private words/)
  assert.equal((await fetch(gateway.metricsUrl!, { headers: { origin: 'https://evil.example' } })).status, 404)

  const dashboard = readFileSync(
    join(import.meta.dirname, '..', '..', 'examples', 'grafana', 'countersign.json'),
    'utf8',
  )
  const shown = [...dashboard.matchAll(/\b(?:countersign|mcp)_[a-z_]+(?=[{[)"])/g)].map(([name]) => name)
  assert.ok(shown.length >= 7)
  for (const name of shown)
    assert.ok(text.includes(name.replace(/_bucket$/, '')), `${name} of the dashboard is no metric`)

  const [first, second] = seen
  assert.deepEqual([first?.name, first?.parent, first?.ended], ['tools/call notes__echo', '00f067aa0ba902b7', true])
  assert.equal(first?.attributes['mcp.method.name'], 'tools/call')
  assert.ok(first?.gates.includes('consent'))
  assert.equal(second?.attributes['countersign.refusal.code'], 'ARGUMENTS_INVALID')
  assert.doesNotMatch(JSON.stringify(seen), /private words/)
})
