import type { JsonObject } from '../../words/json.ts'
import type { SecretReference } from '../../identity/secrets/reference.ts'
import type { Secret } from '../../words/secret.ts'
import type { Sending, WireOutcome } from '../../flow/receipt/receipt.ts'
import type { Permit } from '../../flow/side-effect/operation.ts'
import type { Era, Revision } from '../wire/revisions.ts'
import type { LinkAuth } from './authorised.ts'

/** How an upstream is reached; made from the configuration by a composition root, paths already absolute. */
export interface UpstreamSpec {
  readonly name: string
  readonly reach:
    | {
        readonly kind: 'stdio'
        readonly command: string
        readonly args: readonly string[]
        readonly cwd: string
        /** The child's whole environment but PATH and HOME: names that the operator gave, and nothing else. */
        readonly env: Readonly<Record<string, Secret | SecretReference | string>>
        /** Why it must not be started: what was to confine it is not there. */
        readonly refused?: string
      }
    | {
        readonly kind: 'http'
        readonly url: string
        readonly headers: Readonly<Record<string, Secret | SecretReference | string>>
        /** Where tokens come from, for a server that wants one. */
        readonly auth?: LinkAuth
      }
    /** A server in this process: `open` connects it to one end of an in-memory pair and answers the other. */
    | { readonly kind: 'memory'; readonly open: () => Promise<MemoryEnd> }
  /** Which revisions may be spoken; empty means all. */
  readonly revisions: readonly Revision[]
  /** Era found earlier for this identity, tried first. */
  readonly knownEra?: Era
  readonly connectTimeoutMs: number
  /** Client capabilities that a server of the older era is told for the whole connection. None where nothing is said. */
  readonly offers?: JsonObject
}

/** One end of an in-memory pair; the shape that the MCP SDKs call a Transport. */
export interface MemoryEnd {
  start(): Promise<void>
  send(message: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
}

export type ListMethod = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list'

/** What both ends agreed on, recorded per connection and shown by `server show`. */
export interface Negotiated {
  readonly revision: Revision
  readonly era: Era
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  readonly transport: 'stdio' | 'http' | 'sse' | 'memory'
  readonly pid: number | undefined
  readonly connectedAt: number
}

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'ready'; readonly negotiated: Negotiated }
  /** It is tried again by itself, with growing pauses. */
  | { readonly kind: 'down'; readonly why: string; readonly nextTryAt: number }
  | { readonly kind: 'closed' }

/**
 * One upstream server and the one live connection to it. It reconnects by itself; a call that was under way when the
 * connection went is `no-answer` and is never sent to the fresh one (reliability before convenience).
 */
export interface Upstream {
  readonly name: string
  readonly state: ConnectionState
  /** Resolves when the first attempt to connect has ended, either way. */
  readonly settled: Promise<void>
  /**
   * Every page of the list, raw as the server sent them. Throws ListFault with a reason when the upstream is down, answers
   * with an error, repeats a cursor, or passes the limits (pages, items, bytes); where it had to be cut, with what came before.
   */
  list(method: ListMethod, signal: AbortSignal): Promise<readonly JsonObject[]>
  /** How many milliseconds the server says that its last answer to that list may be kept (2026-07-28, "Caching"). */
  freshFor(method: ListMethod): number | undefined
  /** One request that is not a governed call (resource lists aside, tests and probes). */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<WireOutcome>
  /** Sends one attempt: `tools/call`, `prompts/get` or `resources/read` by the kind of the permit's tool. */
  send(permit: Permit, sending: Sending): Promise<WireOutcome>
  /** `list_changed` of the server (or a fresh connection): what was listed may be stale. */
  onChanged(listener: (what: 'tools' | 'prompts' | 'resources') => void): () => void
  /**
   * Tells when the server says that the resource, or one below it, has changed, or may have while nothing could be heard.
   * All who watch one URI share one subscription. Resolves what ends the watch, or undefined where the server has no such thing.
   */
  watchResource(uri: string, listener: (uri: string) => void): Promise<(() => void) | undefined>
  onState(listener: (state: ConnectionState) => void): () => void
  /** Ends the connection and, for stdio, the whole process group: end of input, SIGTERM, SIGKILL. Idempotent. */
  close(): Promise<void>
}
