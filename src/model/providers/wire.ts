import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import type { ProviderKind } from '../projection/profiles.ts'

/** Names the results of this request that failed and hold a picture. It is for `wireFetch` alone and never leaves. */
export const FAILED_RESULTS = 'x-countersign-failed-results'

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

/**
 * The fetch that provider packages are given. It follows no redirect, which would carry the key to wherever it points;
 * it bounds what is read; and it sets the error flag on results that hold a picture, which the packages cannot say.
 */
export function wireFetch(kind: ProviderKind, send: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    const failed = headers.get(FAILED_RESULTS)
    headers.delete(FAILED_RESULTS)
    const body = init?.body
    const flagged =
      failed === null || typeof body !== 'string'
        ? body
        : JSON.stringify(
            flagFailures(JSON.parse(body) as Json, kind, new Set(failed.split(',').map(decodeURIComponent))),
          )
    const response = await send(input, {
      ...init,
      headers,
      redirect: 'error',
      ...(flagged == null ? {} : { body: flagged }),
    })
    if (response.body === null) return response
    return new Response(response.body.pipeThrough(bounded(MAX_RESPONSE_BYTES)), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    })
  }
}

function bounded(limit: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > limit) controller.error(new Error(`the answer of the model is larger than ${limit} bytes`))
      else controller.enqueue(chunk)
    },
  })
}

function flagFailures(body: Json, kind: ProviderKind, failed: ReadonlySet<string>): Json {
  if (!isJsonObject(body)) return body
  switch (kind) {
    case 'anthropic':
      return inLists(body, 'messages', 'content', (block) => {
        const failure = member(block, 'type') === 'tool_result' && failed.has(textMember(block, 'tool_use_id') ?? '')
        return failure ? { ...block, is_error: true } : block
      })
    case 'google':
      return inLists(body, 'contents', 'parts', (part) => {
        const answer = member(part, 'functionResponse')
        if (!isJsonObject(answer) || !failed.has(textMember(answer, 'id') ?? '')) return part
        const response = member(answer, 'response')
        if (!isJsonObject(response)) return part
        const { content, ...rest } = response
        return { ...part, functionResponse: { ...answer, response: { ...rest, error: content ?? 'the tool failed' } } }
      })
    case 'openai-responses':
    case 'openai-chat':
    case 'compatible':
      return body
    default:
      return kind satisfies never
  }
}

function inLists(body: JsonObject, outer: string, inner: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const messages = member(body, outer)
  if (!Array.isArray(messages)) return body
  const changed = (messages as readonly Json[]).map((message): Json => {
    const items = isJsonObject(message) ? member(message, inner) : undefined
    if (!isJsonObject(message) || !Array.isArray(items)) return message
    return { ...message, [inner]: items.map((item: Json) => (isJsonObject(item) ? change(item) : item)) }
  })
  return { ...body, [outer]: changed }
}
