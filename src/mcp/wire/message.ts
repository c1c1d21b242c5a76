import { isUtf8 } from 'node:buffer'
import { isJsonObject, member, textMember, type Json, type JsonObject } from '../../words/json.ts'
import { isRequestId, type RequestId } from './jsonrpc.ts'
import { membersOf, spanOf, type Members } from './members.ts'

/** One JSON-RPC message that a server sent us. */
export type Message =
  /** `bytes` are those of the result alone, as they came. */
  | { readonly kind: 'reply'; readonly id: RequestId; readonly value: JsonObject; readonly bytes: Uint8Array }
  /** `id` is null where the server could not tell which request it was. */
  | {
      readonly kind: 'error'
      readonly id: RequestId | null
      readonly code: number
      readonly message: string
      readonly data?: Json
    }
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  /** Nothing that may be acted on. `id` is there where it can still be seen whose answer this was meant to be. */
  | { readonly kind: 'garbage'; readonly why: string; readonly id?: RequestId }

/** Deeper replies are not parsed: what recurses over them afterwards would overflow. */
const DEPTH = 512

/** Reads one message with one `JSON.parse`, and cuts the result out of its bytes instead of writing it anew. */
export function readMessage(bytes: Buffer): Message {
  const members = membersOf(bytes)
  if (typeof members === 'string') return garbage(members)
  if (!isUtf8(bytes)) return garbage('not UTF-8', idOf(bytes, members))
  if (members.deepest > DEPTH) return garbage(`nested deeper than ${DEPTH}`, idOf(bytes, members))
  let message: JsonObject
  try {
    message = JSON.parse(bytes.toString('utf8')) as JsonObject
  } catch {
    return garbage('not JSON', idOf(bytes, members))
  }
  const id = member(message, 'id')
  const known = isRequestId(id) ? id : undefined
  if (member(message, 'jsonrpc') !== '2.0') return garbage('not JSON-RPC 2.0', known)
  const method = member(message, 'method')
  if (method !== undefined) return readCall(message, method, id)

  const result = member(message, 'result')
  const error = member(message, 'error')
  if ((result === undefined) === (error === undefined)) return garbage('neither a result nor an error', known)
  if (error !== undefined) return readError(error, id)
  if (!isJsonObject(result)) return garbage('the result is not an object', known)
  if (known === undefined) return garbage('a result without an id')
  const { from, to } = spanOf(members, 'result')!
  return { kind: 'reply', id: known, value: result, bytes: bytes.subarray(from, to) }
}

function readCall(message: JsonObject, method: Json, id: Json | undefined): Message {
  if (typeof method !== 'string') return garbage('the method is not text')
  const given = member(message, 'params')
  const params = isJsonObject(given) ? given : {}
  if (id === undefined) return { kind: 'notification', method, params }
  return isRequestId(id) ? { kind: 'request', id, method, params } : garbage('a request without a proper id')
}

function readError(error: Json, id: Json | undefined): Message {
  const known = isRequestId(id) ? id : null
  if (!isJsonObject(error)) return garbage('the error is not an object', known ?? undefined)
  const code = member(error, 'code')
  const message = textMember(error, 'message')
  if (!Number.isSafeInteger(code) || message === undefined) {
    return garbage('the error has no code or no message', known ?? undefined)
  }
  const data = member(error, 'data')
  return { kind: 'error', id: known, code: code as number, message, ...(data !== undefined && { data }) }
}

function idOf(bytes: Buffer, members: Members): RequestId | undefined {
  const span = spanOf(members, 'id')
  if (span === undefined || span.to - span.from > 256) return undefined
  try {
    const id: unknown = JSON.parse(bytes.toString('utf8', span.from, span.to))
    return isRequestId(id) ? id : undefined
  } catch {
    return undefined
  }
}

function garbage(why: string, id?: RequestId): Message {
  return id === undefined ? { kind: 'garbage', why } : { kind: 'garbage', why, id }
}

/**
 * Whose answer a line was that was too long to keep, from its two ends. An `id` counts only as the first or the last member,
 * or beside `jsonrpc` there, where it cannot be part of something inside the message.
 */
export function idAtEnds(head: Buffer, tail: Buffer): RequestId | undefined {
  const version = '(?:"jsonrpc"\\s*:\\s*"2\\.0")'
  const id = '"id"\\s*:\\s*(\\d{1,15}|"[^"\\\\]{1,200}")'
  const start = head.toString('utf8')
  // Ids of the server's own requests are another series than ours.
  if (new RegExp(`^\\s*\\{\\s*(?:(?:${version}|${id})\\s*,\\s*)*"method"`).test(start)) return undefined
  const first = new RegExp(`^\\s*\\{\\s*(?:${version}\\s*,\\s*)?${id}\\s*,`).exec(start)
  const last = new RegExp(`,\\s*${id}\\s*(?:,\\s*${version}\\s*)?\\}\\s*$`).exec(tail.toString('utf8'))
  const found = (first ?? last)?.[1]
  return found === undefined ? undefined : (JSON.parse(found) as RequestId)
}
