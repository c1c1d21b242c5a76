import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { RunningGateway } from '../../src/gateway/build.ts'
import type { Json, JsonObject } from '../../src/words/json.ts'

/** A client that can say anything, rightly or wrongly. */
export interface Sent {
  readonly method?: string
  readonly path?: string
  /** Undefined takes one of the usual ones away. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Buffer
}
export interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The last JSON-RPC message of the body, be it JSON or an event stream. */
  readonly message: JsonObject
}

export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'

export function door({ url }: RunningGateway, token: string | undefined, sent: Sent): Promise<Got> {
  const { method = 'POST', path = '/mcp', headers = {}, body } = sent
  const usual = {
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const given = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== undefined)
  return new Promise((resolve, reject) => {
    const options = { method, headers: Object.fromEntries(given) as Record<string, string>, agent: false }
    const asked = httpRequest(new URL(path, url), options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, text, message: lastOf(text) }),
      )
      response.on('error', reject)
    })
    // The answer may come, and the connection go, before all is sent.
    let answered = false
    asked.on('response', () => (answered = true))
    asked.on('error', (fault) => {
      if (!answered) reject(fault)
    })
    asked.end(body)
  })
}

function lastOf(text: string): JsonObject {
  const lines = text.startsWith('{') ? [text] : text.split('\n').filter((line) => line.startsWith('data: {'))
  const last = lines.at(-1)?.replace(/^data: /, '')
  return last === undefined ? {} : (JSON.parse(last) as JsonObject)
}

export function modernMeta(more: JsonObject = {}): JsonObject {
  return {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'hostile', version: '1' },
    ...more,
  }
}

export function rpc(method: string, params?: JsonObject, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })
}

/** A well-formed modern request; `headers` may spoil it. */
export function modern(method: string, params: JsonObject = {}, more: Spoilt = {}): Sent {
  const name = params['name'] ?? params['uri']
  const headers = {
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...more.headers,
  }
  return { headers, body: rpc(method, { ...params, _meta: modernMeta(more.meta) }, more.id) }
}
export interface Spoilt {
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly meta?: JsonObject
  readonly id?: number | string
}

/** `tools/call` in the modern era. */
export function callTool(
  gateway: RunningGateway,
  token: string,
  name: string,
  given: Json,
  more: Spoilt & { readonly params?: JsonObject } = {},
): Promise<Got> {
  return door(gateway, token, modern('tools/call', { name, arguments: given, ...more.params }, more))
}

/** Headers of a fresh legacy session. */
export async function session(
  gateway: RunningGateway,
  token: string,
  capabilities: JsonObject = {},
): Promise<Record<string, string>> {
  const params = { protocolVersion: LEGACY, capabilities, clientInfo: { name: 'hostile', version: '1' } }
  const got = await door(gateway, token, { body: rpc('initialize', params) })
  const id = got.headers['mcp-session-id']
  if (typeof id !== 'string') throw new Error(`no session: ${got.status} ${got.text}`)
  return { 'mcp-session-id': id, 'mcp-protocol-version': LEGACY }
}
