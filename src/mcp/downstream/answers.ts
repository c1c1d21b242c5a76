import type { AuthorisedAction } from '../../flow/action/index.ts'
import type { Answer } from '../../flow/answer.ts'
import { provenance, withMarks } from '../../flow/result/marks.ts'
import { offersMode } from '../../flow/receipt/ask-grant.ts'
import type { CapabilityKind } from '../../flow/tool/selected.ts'
import type { Digest } from '../../words/digest.ts'
import { type JsonObject, isJsonObject, member } from '../../words/json.ts'
import { refusals } from '../../words/refusals.ts'
import { type RequestId, errorCodes } from '../wire/jsonrpc.ts'
import { implementation, metaKeys } from '../wire/envelope.ts'
import type { Era } from '../wire/revisions.ts'
import { withoutMembers } from './members.ts'
import { REFUSED, type Refused, refusalData, refusalText } from './refused.ts'
import { type Reply, failure, spliced, success } from './reply.ts'
import type { ClientRequest } from './request.ts'

export type Answered = Extract<Answer, { kind: 'answered' }>
type Unknown = Extract<Answer, { kind: 'unknown' }>
type UpstreamError = Extract<Answer, { kind: 'upstream-error' }>

/** Keys of ours in `_meta` of results. */
export const ownKeys = {
  refusal: 'io.countersign/refusal',
  operation: 'io.countersign/operation',
  page: 'io.countersign/page',
} as const

/** Members that belong to one hop: an upstream's own are cut out, ours are put in. */
const OF_THE_HOP = ['resultType', 'ttlMs', 'cacheScope']

/** The answer of the flow as the client's era has it. `asked` has a form of its own (`questionReply`). */
export function replyTo(request: ClientRequest, answer: Exclude<Answer, { kind: 'asked' }>): Reply {
  switch (answer.kind) {
    case 'answered':
      return answeredReply(request, answer)
    case 'upstream-error':
      return upstreamErrorReply(request, answer)
    case 'refused':
      return refusedReply(request, answer)
    case 'unknown':
      return unknownReply(request, answer)
    default:
      return answer satisfies never
  }
}

/** A result of our own making, in the form of the era. `members` is JSON text without braces. */
export function ownResult(request: ClientRequest, members: string, meta: JsonObject = {}): Reply {
  const ours = request.era === 'modern' ? { ...meta, [metaKeys.serverInfo]: implementation } : meta
  const hasMeta = Object.keys(ours).length > 0
  const parts = [members, hopMembers(request.era, request.method), hasMeta ? `"_meta":${JSON.stringify(ours)}` : '']
  return success(request.id, `{${parts.filter((part) => part !== '').join(',')}}`)
}

/** What a result of this era has to say of itself (2026-07-28, "Results" and "Caching"). */
function hopMembers(era: Era, method: string): string {
  if (era === 'legacy') return ''
  // Nothing may be kept: what a principal may read is decided anew, and recorded, each time.
  if (method === 'resources/read') return '"resultType":"complete","ttlMs":0,"cacheScope":"private"'
  return '"resultType":"complete"'
}

function answeredReply(request: ClientRequest, answer: Answered): Reply {
  const { value } = answer.accepted
  let bytes = answer.accepted.bytes
  const foreign = OF_THE_HOP.filter((name) => Object.hasOwn(value, name))
  // Before 2026-07-28 structured content is an object; the text that stands beside it says the same.
  const structured = member(value, 'structuredContent')
  if (request.era === 'legacy' && structured !== undefined && !isJsonObject(structured)) {
    foreign.push('structuredContent')
  }
  if (foreign.length > 0) bytes = withoutMembers(bytes, value, foreign)
  bytes = withMarks({ bytes, value }, marksOf(request, answer))
  const members = hopMembers(request.era, request.method)
  if (members === '') return spliced(request.id, '', bytes, '')
  // In the modern era there is always a mark, so that something follows.
  return spliced(request.id, `{${members},`, bytes.subarray(bytes.indexOf(OPEN_BRACE) + 1), '')
}

const OPEN_BRACE = 0x7b

/** Whose result this is, and in the modern era whose answer; nothing of it is the upstream's word. */
function marksOf(request: ClientRequest, { steps, operation, accepted }: Answered): JsonObject {
  const about: JsonObject = request.era === 'modern' ? { [metaKeys.serverInfo]: implementation } : {}
  const { server, tool: key, pin } = steps.find(({ step }) => step === 'tool')?.facts ?? {}
  if (typeof server !== 'string' || typeof key !== 'string' || typeof pin !== 'string') return about
  const tool = { kind: kinds[request.method] ?? 'tool', server, name: key.slice(server.length + 1), pin: pin as Digest }
  return { ...provenance({ tool } as Pick<AuthorisedAction, 'tool'>, operation, accepted.remarks), ...about }
}

const kinds: Readonly<Record<string, CapabilityKind>> = { 'prompts/get': 'prompt', 'resources/read': 'resource' }

function refusedReply(request: ClientRequest, refused: Refused): Reply {
  const { code } = refused
  const row = refusals[code]
  const { id, method, params } = request
  if (row.step === 'principal') return failure(id, REFUSED, `${code}: ${row.say}`, refusalData(refused), row.http)
  // What is not a well-formed call is not a call: no tool has answered.
  if (row.step === 'proposal') return failure(id, errorCodes.invalidParams, `${code}: ${row.say}`, refusalData(refused))
  if (code === 'TOOL_UNKNOWN') {
    const named = textOf(params, method === 'resources/read' ? 'uri' : 'name')
    if (method !== 'resources/read') return failure(id, errorCodes.invalidParams, `Unknown name: ${named}`, { code })
    return missingResource(request, named)
  }
  if (method !== 'tools/call') return failure(id, REFUSED, refusalText(refused), refusalData(refused))
  return ownResult(request, toolError(refusalText(refused)), {
    [ownKeys.refusal]: refusalData(refused),
  })
}

/** Until 2025-11-25 a missing resource has an error code of its own. */
export function missingResource(request: ClientRequest, uri: string): Reply {
  const code = request.era === 'legacy' ? errorCodes.resourceNotFound : errorCodes.invalidParams
  return failure(request.id, code, 'Resource not found', { uri, code: 'TOOL_UNKNOWN' })
}

// Never `isError: false`: clients refuse a plain result without structured content where the tool has an output schema, and
// a model would read it as done.
function unknownReply(request: ClientRequest, answer: Unknown): Reply {
  const { operation, why } = answer
  const text = [
    'OUTCOME_UNKNOWN: The call was sent, and nobody knows yet what became of it.',
    'Do not repeat it: it may have run. Ask what became of the operation, or let a person look at it.',
    `operation: ${operation} (\`countersign operation show ${operation}\`)`,
  ].join('\n')
  const facts = { id: operation, state: 'unknown', why }
  if (request.method !== 'tools/call') {
    return failure(request.id, REFUSED, text, { code: 'OUTCOME_UNKNOWN', operation, why })
  }
  return ownResult(request, toolError(text), { [ownKeys.operation]: facts })
}

// The codes of the 2026-07-28 range speak of one hop, and the one they speak of is not this one. Those that were retired
// must not be sent in the modern era; one of them asks for what we do not bridge.
function upstreamErrorReply(request: ClientRequest, answer: UpstreamError): Reply {
  const { code, message, data } = answer.error
  if (code === errorCodes.resourceNotFound && request.method === 'resources/read') {
    return missingResource(request, textOf(request.params, 'uri'))
  }
  const required = isJsonObject(data) ? member(data, 'requiredCapabilities') : undefined
  if (code === errorCodes.missingClientCapability && isJsonObject(required))
    return lackingReply(request, answer, required)
  const ofTheHop = (code <= -32020 && code >= -32099) || code === errorCodes.resourceNotFound
  if (!ofTheHop) return failure(request.id, code, message, data)
  return failure(request.id, errorCodes.internal, message, { upstream: { code, ...(data !== undefined && { data }) } })
}

// What the upstream was told is the least of what is granted and of what this client declared: which of the two it was short
// of says whether the client can do something about it.
function lackingReply(request: ClientRequest, { error, operation, steps }: UpstreamError, required: JsonObject): Reply {
  const { id, era, client } = request
  const { code, message } = error
  const lacking = without(required, client.offers)
  if (Object.keys(lacking).length === 0) {
    const facts = { wanted: Object.keys(required) }
    return refusedReply(request, { kind: 'refused', code: 'ASK_NOT_GRANTED', facts, steps, operation })
  }
  if (era === 'modern') return lackingError(id, message, lacking)
  return failure(id, errorCodes.internal, message, { upstream: { code, data: { requiredCapabilities: lacking } } })
}

/** -32021: what the client would have had to declare. */
export function lackingError(id: RequestId, message: string, requiredCapabilities: JsonObject): Reply {
  return failure(id, errorCodes.missingClientCapability, message, { requiredCapabilities }, 400)
}

function without(required: JsonObject, offered: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(required).filter(([name, wanted]) => {
      const has = member(offered, name)
      if (!isJsonObject(has)) return true
      if (name === 'elicitation' && isJsonObject(wanted))
        return Object.keys(wanted).some((mode) => !offersMode(offered, mode === 'url' ? 'url' : 'form'))
      return isJsonObject(wanted) && Object.keys(wanted).some((part) => member(has, part) === undefined)
    }),
  )
}

export function toolError(text: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`
}

function textOf(params: JsonObject, name: string): string {
  const value = member(params, name)
  return typeof value === 'string' ? value.slice(0, 256).toWellFormed() : ''
}
