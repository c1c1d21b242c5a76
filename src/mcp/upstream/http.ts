import { Pool, type Dispatcher } from 'undici'
import { Secret } from '../../words/secret.ts'
import { implementation } from '../wire/envelope.ts'
import { headerNames } from '../wire/headers.ts'
import { eraOf, type Revision } from '../wire/revisions.ts'
import { authorised, type LinkAuth } from './authorised.ts'
import { followChanges } from './http-stream.ts'
import { Exchange, Posting } from './http-exchange.ts'
import {
  MESSAGE_BYTES,
  MOST_LEGS,
  notSent,
  type Leg,
  type LegRequest,
  type Link,
  type LinkEvents,
  type Strays,
} from './link.ts'
import type { PauseRange } from './pauses.ts'
import type { UpstreamSpec } from './upstream.ts'

export interface HttpOptions {
  /** The largest answer that is read, in bytes. 10 MiB where nothing is said. */
  readonly messageBytes?: number
  /** The most connections to one server. Further calls wait for a free one. 64 where nothing is said. */
  readonly connections?: number
  readonly pauses?: PauseRange
}

export type HttpReach = Omit<Extract<UpstreamSpec['reach'], { kind: 'http' }>, 'headers'> & {
  readonly headers: Readonly<Record<string, Secret | string>>
}

/** Long enough for a server to take leave of a session, and short enough to wait for. */
const FAREWELL_MS = 1000

/**
 * Opens the way to a Streamable HTTP endpoint. Nothing is sent yet. Throws where the URL or a header cannot be used.
 * One POST per message, by hand: nothing below this sends anything again, follows a redirect or decodes a body.
 */
export function openHttp(
  reach: HttpReach,
  options: HttpOptions & { readonly connectTimeoutMs: number },
  events: LinkEvents,
  strays: Strays,
): Link {
  return new HttpLink(reach, options, events, strays)
}

/** What an exchange needs of the link that it belongs to. */
export interface HttpGround {
  readonly events: LinkEvents
  readonly strays: Strays
  readonly messageBytes: number
  readonly revision: Revision | undefined
  /** The body of an answer has ended, or will not come. */
  over(): void
  begun(sessionId: string): void
  /** The server knows the session no more: calls to come need another. */
  sessionLost(): void
  readonly sessionId: string | undefined
  post(text: string): Promise<void>
  /** Asks for the rest of a stream after the event of that id. */
  resume(lastEventId: string, handler: Dispatcher.DispatchHandler): void
}

class HttpLink implements Link, HttpGround {
  readonly transport = 'http'
  readonly pid = undefined
  readonly events: LinkEvents
  readonly strays: Strays
  readonly messageBytes: number
  readonly #pool: Pool
  readonly #path: string
  readonly #given: readonly string[]
  readonly #auth: LinkAuth | undefined
  readonly #options: HttpOptions
  readonly #closing = new AbortController()
  #headers: string[] = []
  #revision: Revision | undefined
  #sessionId: string | undefined
  #open = 0
  #retired = false
  #lastId = 0

  constructor(
    reach: HttpReach,
    options: HttpOptions & { readonly connectTimeoutMs: number },
    events: LinkEvents,
    strays: Strays,
  ) {
    const url = new URL(reach.url)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error('the URL is neither http nor https')
    if (url.username !== '' || url.password !== '')
      throw new Error('the URL holds credentials; they belong into a header')
    this.events = events
    this.strays = strays
    this.#options = options
    this.messageBytes = options.messageBytes ?? MESSAGE_BYTES
    this.#path = url.pathname + url.search
    this.#given = givenHeaders(reach.headers)
    this.#auth = reach.auth
    this.#pool = new Pool(url.origin, {
      connections: (options.connections ?? 64) + 1,
      pipelining: 1,
      connectTimeout: options.connectTimeoutMs,
      allowH2: false,
      // The deadlines of the calls are the only ones.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.speak(undefined)
  }

  get revision(): Revision | undefined {
    return this.#revision
  }

  get sessionId(): string | undefined {
    return this.#sessionId
  }

  nextId(): number {
    return ++this.#lastId
  }

  speak(revision: Revision | undefined): void {
    this.#revision = revision
    const agreed = revision === undefined ? [] : [headerNames.protocolVersion, revision]
    const session = this.#sessionId === undefined ? [] : [headerNames.sessionId, this.#sessionId]
    this.#headers = [...this.#given, ...agreed, ...session]
  }

  begun(sessionId: string): void {
    this.#sessionId = sessionId
    this.speak(this.#revision)
  }

  sessionLost(): void {
    this.events.down('the server knows our session no more')
  }

  open(leg: LegRequest): Leg {
    const unable = this.#retired
      ? 'the connection is closed'
      : this.#open >= MOST_LEGS
        ? 'too many requests are under way to this server'
        : undefined
    if (unable !== undefined) {
      leg.end(notSent(unable))
      return { sent: false, drop: () => {} }
    }
    if (this.#auth === undefined) return this.#send(leg, this.#headers)
    return authorised(this.#auth, leg, (again, authorization) => {
      return this.#send(again, [...this.#headers, ...carried(authorization)])
    })
  }

  #send(leg: LegRequest, headers: string[]): Leg {
    this.#open++
    const exchange = new Exchange(this, leg)
    this.#dispatch('POST', leg.headers.length === 0 ? headers : [...headers, ...leg.headers], leg.text, exchange)
    return exchange
  }

  over(): void {
    this.#open--
  }

  post(text: string): Promise<void> {
    return new Promise((resolve) => this.#dispatch('POST', this.#carrying(), text, new Posting(resolve)))
  }

  resume(lastEventId: string, handler: Dispatcher.DispatchHandler): void {
    this.#dispatch('GET', [...this.#carrying(), 'last-event-id', lastEventId], null, handler)
  }

  settled(listens: boolean): void {
    if (!listens || this.#revision === undefined || eraOf(this.#revision) === 'modern') return
    const get = (handler: Dispatcher.DispatchHandler): void => this.#dispatch('GET', this.#carrying(), null, handler)
    void followChanges(get, this, this.#closing.signal, this.#options.pauses)
  }

  retire(): Promise<void> {
    this.#retired = true
    this.#closing.abort()
    return this.#pool.close()
  }

  async close(): Promise<void> {
    this.#retired = true
    this.#closing.abort()
    if (this.#sessionId !== undefined && !this.#pool.closed) {
      await new Promise<void>((resolve) =>
        this.#dispatch('DELETE', this.#carrying(), null, new Posting(resolve, FAREWELL_MS)),
      )
    }
    await this.#pool.destroy()
  }

  errorOutput(): string {
    return ''
  }

  /** For what is not worth a renewal: the token as it is. */
  #carrying(): string[] {
    return [...this.#headers, ...carried(this.#auth?.current())]
  }

  #dispatch(
    method: 'POST' | 'GET' | 'DELETE',
    headers: string[],
    body: string | null,
    handler: Dispatcher.DispatchHandler,
  ): void {
    this.#pool.dispatch({ path: this.#path, method, headers, body }, handler)
  }
}

function carried(authorization: string | undefined): readonly string[] {
  return authorization === undefined ? [] : ['authorization', authorization]
}

const ours = new Set<string>([
  'accept',
  'content-type',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  ...Object.values(headerNames),
])

/** Names and values, flat, of what every request carries. Throws where the configuration names one that is ours to set. */
export function givenHeaders(headers: HttpReach['headers']): string[] {
  const { name, version } = implementation
  const flat = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream']
  let agent = true
  for (const [key, value] of Object.entries(headers)) {
    const lower = key.toLowerCase()
    if (ours.has(lower) || lower.startsWith(headerNames.parameterPrefix))
      throw new Error(`the header ${key} is not for the configuration to set`)
    if (lower === 'user-agent') agent = false
    flat.push(lower, value instanceof Secret ? value.reveal() : value)
  }
  return agent ? [...flat, 'user-agent', `${name}/${version}`] : flat
}
