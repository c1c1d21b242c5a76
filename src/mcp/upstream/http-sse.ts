import { Pool, type Dispatcher } from 'undici'
import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import { SseReader } from '../wire/sse.ts'
import { givenHeaders, type HttpOptions, type HttpReach } from './http.ts'
import { MESSAGE_BYTES, type Link, type LinkEvents, type Strays } from './link.ts'
import { Pipe } from './pipe.ts'

type Controller = Dispatcher.DispatchController

/** An endpoint is a path and a query; what is longer is none. */
const ENDPOINT_BYTES = 4_096

/**
 * Opens an HTTP+SSE connection (2024-11-05, "HTTP with SSE"): one stream on which everything comes, whose first event says where
 * to POST. That place has to be of the same origin. Rejects where there is no such stream, or none in time.
 */
export async function openHttpSse(
  reach: HttpReach,
  options: HttpOptions & { readonly connectTimeoutMs: number },
  events: LinkEvents,
  strays: Strays,
): Promise<Link> {
  const url = new URL(reach.url)
  const pool = new Pool(url.origin, {
    connections: (options.connections ?? 64) + 1,
    pipelining: 1,
    connectTimeout: options.connectTimeoutMs,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const headers = givenHeaders(reach.headers)
  let endpoint: string | undefined
  let ending = false
  const pipe = new Pipe(
    (text) => {
      if (endpoint === undefined) return 'the server has not said where to post'
      const id = (JSON.parse(text) as { id?: unknown; method?: unknown }).id
      const lose = (outcome: WireOutcome): void => pipe.lose(id, outcome)
      pool.dispatch({ path: endpoint, method: 'POST', headers, body: text }, new Post(lose))
      return undefined
    },
    events,
    strays,
  )
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const over = (why: string): void => {
    reject(new Error(why))
    if (ending) return
    ending = true
    pipe.fail('closed', why)
    if (endpoint !== undefined) events.down(why)
  }
  const reader = new SseReader(options.messageBytes ?? MESSAGE_BYTES, {
    event: ({ type, data }) => {
      if (type === 'message' && endpoint !== undefined && data.length > 0) pipe.receive(data)
      else if (type === 'endpoint' && endpoint === undefined) {
        const found = endpointOf(data, url)
        if (found === undefined) stream.stop('the endpoint that the server named is not of its own origin')
        else resolve((endpoint = found))
      }
    },
    // Whose answer it was cannot be seen any more: the one who waits has a deadline.
    oversize: () => void strays.oversize++,
  })
  const stream = new Stream(reader, over)
  const timer = setTimeout(() => stream.stop('the server did not say in time where to post'), options.connectTimeoutMs)
  const accept = ['accept', 'text/event-stream', ...headersWithout(headers, ['accept', 'content-type'])]
  pool.dispatch({ path: url.pathname + url.search, method: 'GET', headers: accept }, stream)
  try {
    await promise
  } catch (fault) {
    await pool.destroy()
    throw fault
  } finally {
    clearTimeout(timer)
  }
  return {
    transport: 'sse',
    pid: undefined,
    open: (leg) => pipe.open(leg),
    post: (text) => pipe.post(text),
    nextId: () => pipe.nextId(),
    speak: (revision) => pipe.speak(revision),
    settled: () => {},
    retire: () => Promise.resolve(),
    close: async () => {
      ending = true
      pipe.fail('closed', 'the connection was closed')
      await pool.destroy()
    },
    errorOutput: () => '',
  }
}

/** Path and query of what the server names, where that is of its own origin; undefined where it leads elsewhere. */
function endpointOf(data: Buffer, base: URL): string | undefined {
  if (data.length > ENDPOINT_BYTES) return undefined
  const url = URL.parse(data.toString('utf8').trim(), base.href)
  if (url === null || url.origin !== base.origin || url.username !== '' || url.password !== '') return undefined
  return url.pathname + url.search
}

function headersWithout(flat: readonly string[], names: readonly string[]): string[] {
  const kept: string[] = []
  for (let n = 0; n < flat.length; n += 2) if (!names.includes(flat[n]!)) kept.push(flat[n]!, flat[n + 1]!)
  return kept
}

class Stream implements Dispatcher.DispatchHandler {
  readonly #reader: SseReader
  readonly #over: (why: string) => void
  #controller: Controller | undefined

  constructor(reader: SseReader, over: (why: string) => void) {
    this.#reader = reader
    this.#over = over
  }

  stop(why: string): void {
    this.#over(why)
    this.#controller?.abort(new Error(why))
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
  }

  onResponseStart(
    _controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    const isStream = status === 200 && String(headers['content-type']).startsWith('text/event-stream')
    if (!isStream) this.stop(`HTTP ${status}, and no stream`)
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#reader.push(chunk)
  }

  onResponseEnd(): void {
    this.#over('the stream of the server ended')
  }

  onResponseError(_controller: Controller | undefined, fault: Error): void {
    this.#over(`the stream of the server broke (${(fault as NodeJS.ErrnoException).code ?? fault.name})`)
  }
}

/** One message on its way. What becomes of it comes by the stream; here can only be seen that nothing will come. */
class Post implements Dispatcher.DispatchHandler {
  readonly #lose: (outcome: WireOutcome) => void
  #controller: Controller | undefined

  constructor(lose: (outcome: WireOutcome) => void) {
    this.#lose = lose
  }

  onRequestStart(controller: Controller): void {
    // A second start would be a second POST.
    if (this.#controller !== undefined) controller.abort(new Error('not sent again'))
    else this.#controller = controller
  }

  onResponseStart(controller: Controller, status: number): void {
    if (status < 200) return
    if (status >= 300) this.#lose({ kind: 'no-answer', why: 'status', detail: `HTTP ${status}` })
    // The answer, where one comes, comes by the stream; bodies say `Accepted`.
    if (status > 202) controller.abort(new Error('not read'))
  }

  onResponseData(): void {}
  onResponseEnd(): void {}

  onResponseError(_controller: Controller | undefined, fault: Error): void {
    const code = (fault as NodeJS.ErrnoException).code ?? fault.name
    if (this.#controller === undefined) {
      this.#lose({ kind: 'not-sent', why: `the server cannot be reached (${code})` })
    } else this.#lose({ kind: 'no-answer', why: 'closed', detail: `the connection went (${code})` })
  }
}
