import type { TraceContext } from '../../flow/receipt/receipt.ts'
import { type JsonObject, textMember } from '../../words/json.ts'

// W3C Trace Context, "traceparent"; the lengths are those that the recommendations want passed on.
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/
const PRINTABLE = /^[\x20-\x7e]+$/
const TRACESTATE = 512
const BAGGAGE = 8_192

export function traceIdOf(meta: JsonObject): string | undefined {
  const parent = textMember(meta, 'traceparent')
  return parent === undefined ? undefined : TRACEPARENT.exec(parent)?.[1]
}

/** What goes on to the server of the call: well-formed members only, and nothing where there are none. */
export function traceOf(meta: JsonObject): TraceContext | undefined {
  const parent = textMember(meta, 'traceparent')
  const state = textMember(meta, 'tracestate')
  const baggage = textMember(meta, 'baggage')
  if (parent === undefined && baggage === undefined) return undefined
  const traced = parent !== undefined && parent.length <= 128 && TRACEPARENT.test(parent) && PRINTABLE.test(parent)
  return {
    ...(traced && { traceparent: parent }),
    // Without a parent it belongs to nothing.
    ...(traced && state !== undefined && state.length <= TRACESTATE && PRINTABLE.test(state) && { tracestate: state }),
    ...(baggage !== undefined && baggage.length <= BAGGAGE && PRINTABLE.test(baggage) && { baggage }),
  }
}
