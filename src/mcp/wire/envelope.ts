import { readFileSync } from 'node:fs'
import type { JsonObject } from '../../words/json.ts'
import { idText, type RequestId } from './jsonrpc.ts'
import { eraOf, type Revision } from './revisions.ts'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/** How we name ourselves on every hop. */
export const implementation = Object.freeze({ name: 'countersign', version })

/** Reserved keys of `_meta` (2026-07-28, "_meta"). */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

/** Identifier of the extension for long calls that are held as tasks. */
export const EXTENSION_TASKS = 'io.modelcontextprotocol/tasks'

/** Our own key, for servers that drop repeats: a UUID that is equal for all attempts of one operation. */
export const IDEMPOTENCY_KEY = 'io.countersign/idempotency-key'

export interface MetaParts {
  readonly progressToken?: RequestId | undefined
  readonly idempotencyKey?: string | undefined
  /** Of the modern era alone: how talkative the server may be about this request. */
  readonly logLevel?: string | undefined
  readonly trace?: Readonly<Partial<Record<(typeof traceKeys)[number], string>>> | undefined
  /** Client capabilities of this one request, of the modern era only. None where nothing is said. */
  readonly offers?: JsonObject | undefined
  /** In place of our own name for it, where the operator knows another that the server reads. */
  readonly idempotencyName?: string | undefined
}

/** Keys without prefix that go on from hop to hop (2026-07-28, "_meta": W3C Trace Context and Baggage). */
export const traceKeys = ['traceparent', 'tracestate', 'baggage'] as const

const declared = new Map<Revision, string>()

/**
 * JSON text of the `_meta` of one request of ours, or undefined where it would be empty. It is made anew on each hop, of
 * nothing that a caller sent; a capability is declared where somebody will answer for it.
 */
export function metaText(revision: Revision, parts: MetaParts = {}): string | undefined {
  let text = eraOf(revision) === 'modern' ? declaration(revision, parts.offers) : ''
  if (parts.progressToken !== undefined) text = join(text, `"progressToken":${idText(parts.progressToken)}`)
  if (parts.idempotencyKey !== undefined) {
    const name = parts.idempotencyName ?? IDEMPOTENCY_KEY
    text = join(text, `${JSON.stringify(name)}:${JSON.stringify(parts.idempotencyKey)}`)
  }
  if (parts.logLevel !== undefined) text = join(text, `"${metaKeys.logLevel}":${JSON.stringify(parts.logLevel)}`)
  if (parts.trace !== undefined) {
    for (const key of traceKeys) {
      const value = parts.trace[key]
      if (value !== undefined) text = join(text, `"${key}":${JSON.stringify(value)}`)
    }
  }
  return text === '' ? undefined : `{${text}}`
}

/** JSON text of `params` with `_meta` put in; `members` is the JSON text of an object that has no `_meta`. */
export function withMeta(members: string, meta: string | undefined): string {
  if (meta === undefined) return members
  const inside = members.slice(members.indexOf('{') + 1, members.lastIndexOf('}')).trim()
  return `{${join(inside, `"_meta":${meta}`)}}`
}

function declaration(revision: Revision, offers: JsonObject | undefined): string {
  if (offers !== undefined && Object.keys(offers).length > 0) return declaring(revision, JSON.stringify(offers))
  let text = declared.get(revision)
  if (text === undefined) declared.set(revision, (text = declaring(revision, '{}')))
  return text
}

function declaring(revision: Revision, offers: string): string {
  const { protocolVersion, clientCapabilities, clientInfo } = metaKeys
  return `"${protocolVersion}":"${revision}","${clientCapabilities}":${offers},"${clientInfo}":${JSON.stringify(implementation)}`
}

function join(left: string, right: string): string {
  return left === '' ? right : `${left},${right}`
}
