// A small MCP server to put behind a gateway, by hand so that it is never what is slow: 2025-11-25 with sessions and
// 2026-07-28 without, over HTTP or stdio.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly protocolVersion?: string
    readonly arguments?: { readonly text?: string }
    readonly _meta?: Readonly<Record<string, unknown>>
  }
}

const text = { type: 'string' } as const
const { values: options } = parseArgs({
  options: {
    transport: { ...text, default: 'http' },
    port: { ...text, default: '0' },
    tools: { ...text, default: '10' },
  },
})
const modern = '2026-07-28'
const serverInfo = JSON.stringify({ name: 'bench-upstream', version: '1.0.0' })
const record = {
  query: { ...text, minLength: 1, maxLength: 500, description: 'Words, all of which must be in the record.' },
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many records to return at most.' },
  since: { ...text, description: 'Only records that were changed after this moment, as a date and time with a zone.' },
  fields: { type: 'array', items: { enum: ['id', 'title', 'owner', 'state'] }, description: 'What to return of each.' },
}
const tools = [tool('echo', 'Return the text.', { text }, ['text']), tool('big', 'Return 200 KB of text.', {}, [])]
for (let n = 0; n < Number(options.tools); n++)
  tools.push(tool(`find_${n}`, `Look up the records of collection ${n} that match, newest first.`, record, ['query']))
const listed = JSON.stringify(tools)
const entry = '2026-11-30T12:00:00.000Z INFO "GET /v1/items?limit=50" 200 12ms\tuser=\'ana\' path=C:\\data\\x\n'
const big = JSON.stringify(entry.repeat(Math.ceil(204_800 / entry.length)).slice(0, 204_800))

function tool(name: string, description: string, properties: object, required: string[]): object {
  return { name, description, inputSchema: { type: 'object', properties, required, additionalProperties: false } }
}

/** The JSON text of the answer; undefined where there is none. */
function answer({ id, method, params }: Message): string | undefined {
  if (id === undefined) return undefined
  const isModern = params?._meta?.['io.modelcontextprotocol/protocolVersion'] === modern
  const seal = isModern
    ? `,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}},"ttlMs":0,"cacheScope":"private"`
    : ''
  const reply = (member: string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${member}${seal}}}`
  const say = (json: string) => reply(`"content":[{"type":"text","text":${json}}]`)
  const capabilities = '"capabilities":{"tools":{"listChanged":true}}'
  if (method === 'tools/call' && params?.name === 'echo') return say(JSON.stringify(params.arguments?.text ?? ''))
  if (method === 'tools/call' && params?.name === 'big') return say(big)
  if (method === 'tools/list') return reply(`"tools":${listed}`)
  // It speaks whatever older revision it is asked for: nothing here differs between them.
  if (method === 'initialize')
    return reply(
      `"protocolVersion":${JSON.stringify(params?.protocolVersion)},${capabilities},"serverInfo":${serverInfo}`,
    )
  if (method === 'server/discover') return reply(`"supportedVersions":["${modern}"],${capabilities}`)
  if (method === 'ping') return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: `No ${method} ${params?.name ?? ''}` } })
}

function post(request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(parts).toString('utf8')) as Message
    const body = Buffer.from(answer(message) ?? '')
    const session = message.method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {}
    const headers = { 'content-type': 'application/json', 'content-length': body.length, ...session }
    response.writeHead(body.length === 0 ? 202 : 200, headers).end(body)
  })
}

if (options.transport === 'stdio') {
  for await (const line of createInterface(process.stdin)) {
    const said = answer(JSON.parse(line) as Message)
    if (said !== undefined) process.stdout.write(`${said}\n`)
  }
} else {
  const server = createServer((request, response) => {
    if (request.method === 'POST') post(request, response)
    // Ending a session is taken; there is no stream for what nobody asked.
    else response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
  })
  server.keepAliveTimeout = 120_000
  server.listen(Number(options.port), '127.0.0.1')
}
