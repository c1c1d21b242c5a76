import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { JsonObject } from '../../words/json.ts'
import { metaKeys } from '../wire/envelope.ts'
import { headerNames } from '../wire/headers.ts'
import type { DownstreamLimits, DownstreamOptions } from './options.ts'
import { type Listening, listen } from './server.ts'
import { StandIn, options } from './stand-in.test.ts'

// A client that can say anything, rightly or wrongly, over a real socket.

export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'

export interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: JsonObject
}

export interface Served extends Listening {
  readonly ports: StandIn
}

export async function served(
  t: TestContext,
  limits: Partial<DownstreamLimits> = {},
  rest: Partial<DownstreamOptions> = {},
): Promise<Served> {
  const ports = new StandIn()
  const server = await listen({ host: '127.0.0.1', port: 0, ports, options: options(limits, rest) })
  t.after(() => server.close())
  return { ...server, ports }
}

export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string | undefined>
  readonly body?: string | Buffer
}

/** Opens one request on a connection of its own; resolves with its head. */
export async function open(url: string, { method = 'POST', path, headers = {}, body }: Sent): Promise<IncomingMessage> {
  const all = { authorization: 'Bearer alice', 'content-type': 'application/json', ...headers }
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
  const sent = httpRequest(new URL(path ?? '/mcp', url), { method, headers: given, agent: false })
  // The answer may come, and the connection go, before all is sent.
  sent.on('error', () => {})
  if (body === undefined) sent.end()
  else sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

export async function ask(url: string, sent: Sent): Promise<Got> {
  const response = await open(url, sent)
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece as string
  const isJson = response.headers['content-type'] === 'application/json'
  return {
    status: response.statusCode!,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as JsonObject) : {},
  }
}

export function envelope(capabilities: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    [metaKeys.protocolVersion]: MODERN,
    [metaKeys.clientCapabilities]: capabilities,
    [metaKeys.clientInfo]: { name: 'asking', version: '1' },
    ...more,
  }
}

export function rpc(method: string, params?: JsonObject, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })
}

/** A well-formed modern request; `headers` and `meta` may spoil it. */
export function modern(
  method: string,
  params: JsonObject = {},
  given: { meta?: JsonObject; headers?: Record<string, string | undefined>; id?: number | string } = {},
): Sent {
  const name = params['name'] ?? params['uri']
  return {
    headers: {
      [headerNames.protocolVersion]: MODERN,
      [headerNames.method]: method,
      ...(typeof name === 'string' && { [headerNames.name]: name }),
      ...given.headers,
    },
    body: rpc(method, { ...params, _meta: given.meta ?? envelope() }, given.id),
  }
}

/** Headers of a fresh legacy session. */
export async function initialized(
  url: string,
  token = 'alice',
  capabilities: JsonObject = {},
): Promise<Record<string, string>> {
  const clientInfo = { name: 'asking', version: '1' }
  const got = await ask(url, {
    headers: { authorization: `Bearer ${token}` },
    body: rpc('initialize', { protocolVersion: LEGACY, capabilities, clientInfo }),
  })
  const id = got.headers[headerNames.sessionId]
  if (typeof id !== 'string') throw new Error(`no session: ${got.status} ${got.text}`)
  return {
    authorization: `Bearer ${token}`,
    [headerNames.sessionId]: id,
    [headerNames.protocolVersion]: LEGACY,
  }
}

export function errorOf(got: Got): { code: number; message: string; data?: JsonObject } {
  return got.json['error'] as never
}

/** The messages of an event stream as they come, and its comments as `undefined`. */
export async function* events(response: IncomingMessage): AsyncGenerator<JsonObject | undefined> {
  let rest = ''
  for await (const piece of response.setEncoding('utf8')) {
    rest += piece as string
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const block = rest.slice(0, end)
      rest = rest.slice(end + 2)
      const data = block.split('\n').find((line) => line.startsWith('data: '))
      yield data === undefined ? undefined : (JSON.parse(data.slice(6)) as JsonObject)
    }
  }
}

export async function nextMessage(stream: AsyncGenerator<JsonObject | undefined>): Promise<JsonObject> {
  for (;;) {
    const { done, value } = await stream.next()
    if (done) throw new Error('the stream ended')
    if (value !== undefined) return value
  }
}

/** Resolves when it holds; fails after five seconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries === 500) throw new Error(`never came true: ${what}`)
    await delay(10)
  }
}
