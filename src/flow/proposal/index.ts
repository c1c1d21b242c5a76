import { randomUUID } from 'node:crypto'
import { CanonicalFault, canonical } from '../../words/canonical.ts'
import { digest } from '../../words/digest.ts'
import { newId } from '../../words/id.ts'
import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'
import { parseStrict } from '../../words/strict-json.ts'
import { type Refusal, type Verdict, pass, refuse } from '../../words/verdict.ts'
import type { Origin, Proposal, RawCall, Target } from './proposal.ts'

export interface ProposalLimits {
  /** Bytes of the arguments, both as they came in and in canonical form. */
  readonly argumentBytes: number
  /** Open objects and arrays in the arguments. */
  readonly depth: number
}

export const defaultLimits: ProposalLimits = Object.freeze({ argumentBytes: 1 << 20, depth: 64 })

/** Characters of a name or URI that a call may ask for, and of what a caller says of itself. */
const TARGET_LENGTH = 8192
const ORIGIN_LENGTH = 256

const REQUEST_KEY = /^[A-Za-z0-9._:-]{16,255}$/
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/
// White space as JSON has it; `trim` would also take a byte order mark away.
const BLANK = /^[ \t\r\n]*$/

/**
 * Makes the one frozen form in which a call is judged, shown, approved and sent. What the caller holds on to cannot change
 * it: the arguments are read back from their own canonical text.
 *
 * @param now Milliseconds since 1970.
 * @param ours An argument that is not the caller's to say: the key by which the server tells repeats. It is dropped.
 */
export function propose(request: RawCall, limits: ProposalLimits, now: number, ours?: string): Verdict<Proposal> {
  const target = readTarget(request.target)
  if ('code' in target) return target
  const origin = readOrigin(request.origin)
  if ('code' in origin) return origin
  const given = 'text' in request.arguments ? fromText(request.arguments.text, limits) : request.arguments
  if ('code' in given) return given
  const wanted = target.kind === 'resource' ? forResource(given.value, target.uri) : given
  if ('code' in wanted) return wanted
  if (!isJsonObject(wanted.value)) return refuse('ARGUMENTS_NOT_AN_OBJECT', { got: kindOf(wanted.value) })

  let text: string
  try {
    text = canonical(ours === undefined ? wanted.value : without(wanted.value, ours), limits.depth)
  } catch (fault) {
    if (fault instanceof CanonicalFault) return notCanonical(fault)
    throw fault
  }
  const bytes = Buffer.byteLength(text, 'utf8')
  if (bytes > limits.argumentBytes) return refuse('TOO_LARGE', { bytes, limit: limits.argumentBytes })
  const read = JSON.parse(text) as JsonObject
  if (!freeze(read)) return refuse('NUMBER_OUT_OF_RANGE', { detail: 'an integer beyond what a double holds exactly' })

  const proposal: Proposal = Object.freeze({
    id: newId('prp', now),
    target,
    arguments: read,
    canonical: text,
    digest: digest(text),
    origin,
    traceId:
      request.traceId !== undefined && TRACE_ID.test(request.traceId)
        ? request.traceId
        : randomUUID().replaceAll('-', ''),
    receivedAt: now,
  })
  // Not the digest: on a record that is exported, the bare digest of a small value would give the value away.
  return pass(proposal, { bytes, door: origin.door })
}

// Hosts send no text at all for a call without arguments; OpenAI's APIs send "" for it.
function fromText(text: string, limits: ProposalLimits): { readonly value: Json } | Refusal {
  if (BLANK.test(text)) return { value: {} }
  const parsed = parseStrict(text, { bytes: limits.argumentBytes, depth: limits.depth })
  return parsed.ok ? parsed : refuse(parsed.code, { at: parsed.at, detail: parsed.detail })
}

// A resource is named twice, in the target and in the arguments: two readers must not see two resources.
function forResource(value: Json, uri: string): { readonly value: Json } | Refusal {
  if (!isJsonObject(value)) return { value }
  const named = member(value, 'uri')
  const others = Object.keys(value).length - (named === undefined ? 0 : 1)
  if (others > 0 || (named !== undefined && named !== uri)) {
    return refuse('MALFORMED', { detail: 'a resource is read with its uri and nothing else' })
  }
  return { value: { uri } }
}

function without(value: JsonObject, name: string): JsonObject {
  const { [name]: _ours, ...rest } = value
  return rest
}

function readTarget(target: Target): Target | Refusal {
  const named =
    target.kind === 'resource' ? [target.uri] : 'exported' in target ? [target.exported] : [target.server, target.name]
  for (const text of named) {
    if (text.length > TARGET_LENGTH)
      return refuse('TOO_LARGE', { detail: 'the name of what is called', limit: TARGET_LENGTH })
    if (!text.isWellFormed()) return refuse('MALFORMED', { detail: 'a lone surrogate in the name of what is called' })
  }
  return Object.freeze({ ...target })
}

function readOrigin(origin: Origin): Origin | Refusal {
  if (origin.requestKey !== undefined && !REQUEST_KEY.test(origin.requestKey)) {
    return refuse('MALFORMED', { detail: 'the idempotency key is not 16 to 255 characters of A-Z a-z 0-9 . _ : -' })
  }
  const { door, client, session, conversation, callId, requestKey, reverses } = origin
  return Object.freeze({
    door,
    ...(client && { client: Object.freeze({ name: short(client.name), version: short(client.version) }) }),
    ...(session !== undefined && { session: short(session) }),
    ...(conversation !== undefined && { conversation: short(conversation) }),
    ...(callId !== undefined && { callId: short(callId) }),
    ...(requestKey !== undefined && { requestKey }),
    ...(reverses !== undefined && { reverses: short(reverses) }),
  })
}

function short(text: string): string {
  return text.length > ORIGIN_LENGTH ? text.slice(0, ORIGIN_LENGTH).toWellFormed() : text.toWellFormed()
}

function notCanonical(fault: CanonicalFault): Refusal {
  switch (fault.code) {
    case 'NOT_FINITE':
      return refuse('NUMBER_OUT_OF_RANGE', { detail: fault.message })
    case 'TOO_DEEP':
      return refuse('TOO_DEEP', { detail: fault.message })
    case 'LONE_SURROGATE':
    case 'NOT_JSON':
      return refuse('MALFORMED', { detail: fault.message })
    default:
      return fault.code satisfies never
  }
}

/** Freezes all the way down. False where an integer is met that digits were lost of, or may be. */
function freeze(value: Json): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return true
  for (const key of Object.keys(value)) if (!freeze((value as JsonObject)[key]!)) return false
  Object.freeze(value)
  return true
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
