import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import { type ParseLimits, parseStrict } from '../../words/strict-json.ts'
import { type RequestId, errorCodes, isRequestId } from '../wire/jsonrpc.ts'

/** One JSON-RPC message of a client. */
export type Incoming =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'response'; readonly value: JsonObject }
  /** Not to be acted on. `id` is null where it cannot be known whose answer the error is. */
  | {
      readonly kind: 'wrong'
      readonly id: RequestId | null
      readonly code: number
      readonly why: string
      readonly status: 400 | 413
      readonly data?: JsonObject
    }

const NO_PARAMS: JsonObject = Object.freeze({})

/** Reads one message so that no later reader can see another one in it: before anything else looks at it. */
export function readIncoming(bytes: Uint8Array, limits: ParseLimits): Incoming {
  const parsed = parseStrict(bytes, limits)
  if (!parsed.ok) {
    const code = parsed.code === 'MALFORMED' ? errorCodes.parse : errorCodes.invalidRequest
    const data = { code: parsed.code, at: parsed.at }
    return { kind: 'wrong', id: null, code, why: parsed.detail, status: parsed.code === 'TOO_LARGE' ? 413 : 400, data }
  }
  return Array.isArray(parsed.value) ? invalid(null, 'batches are not taken') : outline(parsed.value)
}

function outline(value: Json): Incoming {
  if (!isJsonObject(value)) return invalid(null, 'a message is an object')
  const id = member(value, 'id')
  const known = isRequestId(id) ? id : null
  if (member(value, 'jsonrpc') !== '2.0') return invalid(known, 'jsonrpc is "2.0"')
  const method = member(value, 'method')
  if (method === undefined) {
    const isResponse = (member(value, 'result') === undefined) !== (member(value, 'error') === undefined)
    return isResponse ? { kind: 'response', value } : invalid(known, 'neither a method nor one of result and error')
  }
  if (typeof method !== 'string') return invalid(known, 'the method is not text')
  const params = member(value, 'params') ?? NO_PARAMS
  if (!isJsonObject(params)) {
    return { kind: 'wrong', id: known, code: errorCodes.invalidParams, why: 'params is not an object', status: 400 }
  }
  if (id === undefined) return { kind: 'notification', method, params }
  return known === null
    ? invalid(null, 'an id is a string or an integer')
    : { kind: 'request', id: known, method, params }
}

function invalid(id: RequestId | null, why: string): Incoming {
  return { kind: 'wrong', id, code: errorCodes.invalidRequest, why, status: 400 }
}
