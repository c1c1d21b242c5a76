import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { Connection, endsOf, type HttpReply } from './connection.ts'

/** One caller: a connection of its own, one request at a time. */
export interface Slot {
  /** JSON of the answer. Rejects where there is none. */
  call(method: string, params: object | undefined): Promise<Buffer>
  close(): void
}

export interface Session {
  slot(): Slot
  close(): Promise<void>
}

export interface Reach {
  readonly endpoint: string
  readonly transport?: 'http' | 'sse'
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

const revision = '2025-11-25'
const hello = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } }
const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

/** A session that is initialized. */
export async function openSession(reach: Reach): Promise<Session> {
  return reach.transport === 'sse' ? await openSse(reach) : await openHttp(reach)
}

async function openHttp(reach: Reach): Promise<Session> {
  const url = new URL(reach.endpoint)
  let lastId = 0
  let headers = `${headerLines(reach)}accept: application/json, text/event-stream\r\n`
  const call = async (connection: Connection, method: string, params: object | undefined): Promise<HttpReply> =>
    await post(connection, url.pathname, headers, requestText(++lastId, method, params), reach.timeoutMs)
  const first = new Connection(url)
  try {
    const { head } = await call(first, 'initialize', hello)
    const id = /\r\nmcp-session-id: *[^\r]+/i.exec(head)?.[0].slice(2)
    headers += `mcp-protocol-version: ${revision}\r\n${id === undefined ? '' : `${id}\r\n`}`
    await post(first, url.pathname, headers, initialized, reach.timeoutMs)
  } finally {
    first.close()
  }
  return {
    slot: () => {
      const connection = new Connection(url)
      return {
        call: async (method, params) => answerIn(await call(connection, method, params)),
        close: () => connection.close(),
      }
    },
    close: async () => {
      const last = new Connection(url)
      await last.request('DELETE', url.pathname, headers, '', 5000).catch(() => {})
      last.close()
    },
  }
}

/** The older transport: a request is only taken, and answered by an event of the session's one stream. */
async function openSse(reach: Reach): Promise<Session> {
  const waiting = new Map<number, (answer: Buffer) => void>()
  let lastId = 0
  const streaming = get(reach.endpoint, { headers: { ...reach.headers, accept: 'text/event-stream' } })
  const deadline = AbortSignal.timeout(reach.timeoutMs)
  const [stream] = (await once(streaming, 'response', { signal: deadline })) as [IncomingMessage]
  const endpoint = Promise.withResolvers<string>()
  stream.on('error', endpoint.reject)
  deadline.addEventListener('abort', endpoint.reject)
  let unread = Buffer.alloc(0)
  stream.on('data', (part: Buffer) => {
    unread = Buffer.concat([unread, part])
    for (let at = unread.indexOf('\n\n'); at >= 0; at = unread.indexOf('\n\n')) {
      const event = unread.subarray(0, at)
      unread = unread.subarray(at + 2)
      const data = event.subarray(event.indexOf('data: ') + 6)
      if (event.indexOf('event: endpoint') >= 0) endpoint.resolve(data.toString('utf8').trim())
      // The id stands near one end of the message, whatever lies between.
      const id = /"id":(\d+)/.exec(endsOf(data))?.[1]
      waiting.get(Number(id))?.(data)
    }
  })
  const url = new URL(await endpoint.promise, reach.endpoint)
  const path = url.pathname + url.search
  const call = async (connection: Connection, method: string, params: object | undefined): Promise<Buffer> => {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const timer = setTimeout(() => reject(new Error('no event with the answer')), reach.timeoutMs)
    waiting.set(id, resolve)
    const posted = post(connection, path, headerLines(reach), requestText(id, method, params), reach.timeoutMs)
    return await Promise.all([promise, posted])
      .then(([answer]) => answer)
      .finally(() => {
        clearTimeout(timer)
        waiting.delete(id)
      })
  }
  const first = new Connection(url)
  await call(first, 'initialize', { ...hello, protocolVersion: '2024-11-05' })
  await post(first, path, headerLines(reach), initialized, reach.timeoutMs)
  first.close()
  return {
    slot: () => {
      const connection = new Connection(url)
      return { call: (method, params) => call(connection, method, params), close: () => connection.close() }
    },
    close: () => Promise.resolve(void streaming.destroy()),
  }
}

async function post(to: Connection, path: string, headers: string, body: string, ms: number): Promise<HttpReply> {
  const reply = await to.request('POST', path, headers, body, ms)
  if (reply.status >= 300) throw new Error(`HTTP ${reply.status} ${reply.body.toString('utf8').slice(0, 200)}`)
  return reply
}

function requestText(id: number, method: string, params: object | undefined): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

function headerLines({ headers = {} }: Reach): string {
  const lines = Object.entries({ 'content-type': 'application/json', ...headers })
  return lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
}

/** JSON of the answer in a reply: the body, or the data of its last event. */
function answerIn({ head, body }: HttpReply): Buffer {
  if (!/\r\ncontent-type: *text\/event-stream/i.test(head)) return body
  const at = body.lastIndexOf('\ndata:') + 6
  return body.subarray(at < 6 ? 5 : at, body.indexOf('\n', at))
}
