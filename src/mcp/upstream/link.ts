import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import type { JsonObject } from '../../words/json.ts'
import type { Message } from '../wire/message.ts'
import { eraOf, type Revision } from '../wire/revisions.ts'
import type { ServerRequest } from './server-asks.ts'

/** One request on its way. */
export interface Leg {
  /** False as long as it is sure that not a byte of the request has left. */
  readonly sent: boolean
  /** Stops listening: `end` is not called any more, and a request that has not left stays here. */
  drop(): void
}

export interface LegRequest {
  readonly id: number
  readonly method: string
  /** JSON text of the whole request. */
  readonly text: string
  /** What goes into `Mcp-Name` and the like: a flat list of header names and values; only HTTP has a use for it. */
  readonly headers: readonly string[]
  /** Called once, perhaps before `open` returns, unless the leg is dropped. */
  readonly end: (ended: Ended) => void
}

/** How a leg ended. The rest is for the search for the server's era, which may go by more than proof. */
export interface Ended {
  readonly outcome: WireOutcome
  /** A result in which the server asks for something (2026-07-28, `input_required`); to all who do not know of it, garbage. */
  readonly interim?: JsonObject
  readonly status?: number
  /** A JSON-RPC error in an HTTP error answer whose id is not that of the request. */
  readonly strayError?: Extract<Message, { kind: 'error' }>
  /** `WWW-Authenticate` of a 401 or 403. */
  readonly challenge?: string | readonly string[]
}

/** One way to one server, for as long as it lasts: a process, an HTTP endpoint with its session, a pair in memory. */
export interface Link {
  readonly transport: 'stdio' | 'http' | 'sse' | 'memory'
  readonly pid: number | undefined
  /** Sends one request, once. Ids are unique per link. */
  open(leg: LegRequest): Leg
  /** Sends a notification or an answer, where that is possible. Resolves, always, when it has been taken. */
  post(text: string): Promise<void>
  nextId(): number
  /** Which revision the requests from here on are in; undefined before it is agreed. */
  speak(revision: Revision | undefined): void
  /** The revision is agreed and the link is in use. `listens`: the server may say that its lists have changed. */
  settled(listens: boolean): void
  /** No leg is opened any more. Resolves when those that are open have ended by themselves, where that is possible. */
  retire(): Promise<void>
  close(): Promise<void>
  /** For `server show`: what the server wrote beside the protocol. */
  errorOutput(): string
}

export interface LinkEvents {
  /** `leg` is the id of the request on whose stream it came, where the transport has streams for single requests. */
  notification(method: string, params: JsonObject, leg?: number): void
  /** The server of the older era asks something; `leg` is the request on whose own stream it came. */
  request(request: ServerRequest, leg: number | undefined): void
  /** For a while nothing could be heard: a change may have been missed. */
  missed(): void
  /** The link is of no use any more: a process has ended, a session is unknown, a host cannot be reached. Once at most. */
  down(why: string): void
}

/** What came that answers nothing; shown by `server show`, never acted on. */
export interface Strays {
  /** Lines that are no JSON-RPC at all, such as log lines on standard output. */
  noise: number
  /** Answers to nothing that waits: a wrong id, a second answer, one that comes too late. */
  answers: number
  /** Messages that passed the size limit. */
  oversize: number
}

export const noStrays = (): Strays => ({ noise: 0, answers: 0, oversize: 0 })

/** How many requests may be under way to one server at once; one more is not sent. */
export const MOST_LEGS = 256

export const MESSAGE_BYTES = 10 * 1024 * 1024

export function notSent(why: string): Ended {
  return { outcome: { kind: 'not-sent', why } }
}

/**
 * A result of the modern era says of what kind it is. Only a call may be interrupted by a question; any other kind than
 * `complete` is nothing that could be trusted. Servers that leave it out are taken at their word (2026-07-28, "resultType").
 */
export function endedBy(message: Extract<Message, { kind: 'reply' | 'error' }>, revision: Revision | undefined): Ended {
  if (message.kind === 'error') {
    const { code, message: text, data } = message
    return { outcome: { kind: 'error', code, message: text, ...(data !== undefined && { data }) } }
  }
  const type = message.value['resultType']
  if (revision !== undefined && eraOf(revision) === 'modern' && type !== undefined && type !== 'complete') {
    const named = typeof type === 'string' ? type.slice(0, 40) : typeof type
    const outcome = {
      kind: 'no-answer',
      why: 'garbage',
      detail: `a result of the type ${JSON.stringify(named)}`,
    } as const
    return type === 'input_required' ? { outcome, interim: message.value } : { outcome }
  }
  return { outcome: { kind: 'reply', value: message.value, bytes: message.bytes } }
}
