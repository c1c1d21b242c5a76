import type { Json } from '../../words/json.ts'
import { type RequestId, errorText, idText, resultText } from '../wire/jsonrpc.ts'

/** One JSON-RPC response: `head`, then `body` where there is one, then `tail`. The body's bytes go out as they are. */
export interface Reply {
  readonly head: string
  readonly body: Uint8Array | undefined
  readonly tail: string
  /** HTTP status; on a stream that has begun, and on a pipe, it says nothing. */
  readonly status: number
}

/** `result` is JSON text. */
export function success(id: RequestId, result: string): Reply {
  return { head: resultText(id, result), body: undefined, tail: '', status: 200 }
}

/** The result is `before`, `bytes` and `after`, which are JSON text together. */
export function spliced(id: RequestId, before: string, bytes: Uint8Array, after: string): Reply {
  return { head: `{"jsonrpc":"2.0","id":${idText(id)},"result":${before}`, body: bytes, tail: `${after}}`, status: 200 }
}

export function failure(id: RequestId | null, code: number, message: string, data?: Json, status = 200): Reply {
  const head = errorText(id, code, message, data === undefined ? undefined : JSON.stringify(data))
  return { head, body: undefined, tail: '', status }
}

function replyBytes(reply: Reply): Buffer {
  const { head, body, tail } = reply
  if (body === undefined) return Buffer.from(head + tail, 'utf8')
  const before = Buffer.byteLength(head, 'utf8')
  const bytes = Buffer.allocUnsafe(before + body.length + Buffer.byteLength(tail, 'utf8'))
  bytes.write(head, 0, 'utf8')
  bytes.set(body, before)
  bytes.write(tail, before + body.length, 'utf8')
  return bytes
}

/** The response between the marks of a frame that a line break would end. */
export function framed(open: string, reply: Reply, close: string): Buffer {
  const body = reply.body === undefined ? undefined : onOneLine(reply.body)
  return replyBytes({ ...reply, head: open + reply.head, body, tail: reply.tail + close })
}

// Only blanks between tokens can be line breaks (inside strings JSON wants them escaped), so putting a space in their place
// changes nothing that is meant.
function onOneLine(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!text.includes(0x0a) && !text.includes(0x0d)) return bytes
  const line = Buffer.from(text)
  for (let at = 0; at < line.length; at++) if (line[at] === 0x0a || line[at] === 0x0d) line[at] = 0x20
  return line
}
