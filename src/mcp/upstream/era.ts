import { isJsonObject, member, textMember, type Json, type JsonObject } from '../../words/json.ts'
import { implementation, metaKeys } from '../wire/envelope.ts'
import { errorCodes, isModernErrorCode, notificationText } from '../wire/jsonrpc.ts'
import {
  legacyRevisions,
  modernRevisions,
  type Era,
  type LegacyRevision,
  type ModernRevision,
  type Revision,
} from '../wire/revisions.ts'
import { ask } from './ask.ts'
import type { Link } from './link.ts'
import type { Negotiated } from './upstream.ts'

export interface Wanted {
  /** Which revisions may be spoken; empty means all. */
  readonly revisions: readonly Revision[]
  /** Tried first. */
  readonly era: Era | undefined
  /** Client capabilities for a server of the older era, which holds them to be those of the whole connection. */
  readonly offers: JsonObject
  /** How long silence on a pipe is waited for before it is taken for a server of the older era. */
  readonly probeTimeoutMs: number
}

export type Agreement = Pick<Negotiated, 'revision' | 'era' | 'serverInfo' | 'capabilities' | 'instructions'>

/** No agreement. `tryFirst` is a better guess for the next connection, where this one gave a hint. */
export class NoAgreement extends Error {
  override readonly name = 'NoAgreement'
  readonly tryFirst: Era | undefined
  /** The HTTP status with which `initialize` was turned away. */
  readonly status: number | undefined

  constructor(why: string, tryFirst?: Era, status?: number) {
    super(why)
    this.tryFirst = tryFirst
    this.status = status
  }
}

/** 2025-11-25, "Backwards Compatibility": these answers to `initialize` may be those of a server of HTTP+SSE. */
export function mayBeOlder(fault: unknown): boolean {
  return fault instanceof NoAgreement && fault.status !== undefined && [400, 404, 405].includes(fault.status)
}

/**
 * Finds a revision that both ends speak, on the link that will be used (2026-07-28, "Versioning"; on HTTP the body of a 400 is
 * read, and 401, 403, 5xx and network faults are no evidence of any era). Throws NoAgreement.
 */
export async function agree(link: Link, wanted: Wanted, signal: AbortSignal): Promise<Agreement> {
  const allowed = <R extends Revision>(all: readonly R[]): R[] =>
    all.filter((revision) => wanted.revisions.length === 0 || wanted.revisions.includes(revision))
  const modern = allowed(modernRevisions)
  const legacy = allowed(legacyRevisions)

  if (wanted.era === 'legacy' && legacy.length > 0) {
    const answer = await initialize(link, legacy, wanted.offers, signal)
    if (answer.kind === 'agreed') return answer.agreement
    if (!answer.refused || modern.length === 0) throw new NoAgreement(answer.why, undefined, answer.status)
  }
  if (modern.length === 0) return initializeOrThrow(link, legacy, wanted.offers, signal)

  const found = await discover(link, modern, wanted, signal)
  if (found.kind === 'agreed') return found.agreement
  if (found.kind === 'fault') throw new NoAgreement(found.why, found.tryFirst)
  const common =
    found.supported === undefined ? legacy : legacy.filter((revision) => found.supported?.includes(revision))
  if (common.length === 0) throw new NoAgreement('the server speaks no revision that may be spoken here')
  return initializeOrThrow(link, common, wanted.offers, signal)
}

type Discovery =
  | { readonly kind: 'agreed'; readonly agreement: Agreement }
  /** `supported` is what the server said that it speaks, where it said so. */
  | { readonly kind: 'legacy'; readonly supported?: readonly Json[] }
  | { readonly kind: 'fault'; readonly why: string; readonly tryFirst?: Era }

async function discover(
  link: Link,
  modern: readonly ModernRevision[],
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Discovery> {
  const revision = modern[0]!
  link.speak(revision)
  const onPipe = link.transport === 'stdio' || link.transport === 'memory'
  const patience = onPipe ? AbortSignal.any([signal, AbortSignal.timeout(wanted.probeTimeoutMs)]) : signal
  const ended = await ask(link, { method: 'server/discover', params: {}, revision }, patience)
  if (signal.aborted) return { kind: 'fault', why: 'no answer to server/discover in time' }
  const { outcome } = ended

  if (outcome.kind === 'not-sent') return { kind: 'fault', why: outcome.why }
  if (isRefusalOfAccess(ended.status)) {
    return { kind: 'fault', why: `HTTP ${ended.status}${ended.status === 401 ? ': it wants authorization' : ''}` }
  }
  if (outcome.kind === 'reply') return readDiscovery(outcome.value, modern)
  if (outcome.kind === 'error') return readError(outcome.code, outcome.data, modern)
  if (ended.strayError !== undefined) return readError(ended.strayError.code, ended.strayError.data, modern)
  switch (outcome.why) {
    case 'status':
    case 'garbage':
      return { kind: 'legacy' }
    case 'deadline':
      return onPipe ? { kind: 'legacy' } : { kind: 'fault', why: outcome.detail }
    case 'crash':
      // Some servers end when the first message is not the one that they expect.
      return { kind: 'fault', why: outcome.detail, tryFirst: 'legacy' }
    default:
      return { kind: 'fault', why: outcome.detail }
  }
}

function isRefusalOfAccess(status: number | undefined): boolean {
  return status !== undefined && (status === 401 || status === 403 || status === 407 || status === 429 || status >= 500)
}

function readDiscovery(result: JsonObject, modern: readonly ModernRevision[]): Discovery {
  const supported = member(result, 'supportedVersions')
  // An answer to everything is no answer to this question.
  if (!Array.isArray(supported)) return { kind: 'legacy' }
  const revision = modern.find((candidate) => supported.includes(candidate))
  if (revision === undefined) return { kind: 'legacy', supported: supported as readonly Json[] }
  const meta = objectOf(result, '_meta')
  return {
    kind: 'agreed',
    agreement: {
      revision,
      era: 'modern',
      serverInfo: objectOf(meta, metaKeys.serverInfo),
      capabilities: objectOf(result, 'capabilities'),
      instructions: textMember(result, 'instructions'),
    },
  }
}

function readError(code: number, data: Json | undefined, modern: readonly ModernRevision[]): Discovery {
  if (!isModernErrorCode(code)) return { kind: 'legacy' }
  const supported = isJsonObject(data) ? member(data, 'supported') : undefined
  if (code === errorCodes.unsupportedVersion && Array.isArray(supported)) {
    const contradicts = modern.some((revision) => supported.includes(revision))
    if (!contradicts) return { kind: 'legacy', supported: supported as readonly Json[] }
  }
  return { kind: 'fault', why: `the server refused our first request with the error ${code}` }
}

type Initialized =
  | { readonly kind: 'agreed'; readonly agreement: Agreement }
  /** `refused`: the server answered, and said no. */
  | { readonly kind: 'fault'; readonly why: string; readonly refused: boolean; readonly status?: number }

async function initializeOrThrow(
  link: Link,
  legacy: readonly LegacyRevision[],
  offers: JsonObject,
  signal: AbortSignal,
): Promise<Agreement> {
  const answer = await initialize(link, legacy, offers, signal)
  if (answer.kind === 'fault') throw new NoAgreement(answer.why, undefined, answer.status)
  return answer.agreement
}

async function initialize(
  link: Link,
  legacy: readonly LegacyRevision[],
  offers: JsonObject,
  signal: AbortSignal,
): Promise<Initialized> {
  link.speak(undefined)
  const params = { protocolVersion: legacy[0]!, capabilities: offers, clientInfo: implementation }
  const { outcome, status } = await ask(link, { method: 'initialize', params, revision: undefined }, signal)
  switch (outcome.kind) {
    case 'reply':
      break
    case 'error':
      return { kind: 'fault', refused: true, why: `the server refused initialize with the error ${outcome.code}` }
    case 'not-sent':
      return { kind: 'fault', refused: false, why: outcome.why }
    case 'no-answer': {
      const refused = outcome.why === 'status' && !isRefusalOfAccess(status)
      const why = `no agreement by initialize: ${outcome.detail}`
      return { kind: 'fault', refused, why, ...(status !== undefined && { status }) }
    }
  }
  const named = textMember(outcome.value, 'protocolVersion')
  const revision = legacy.find((candidate) => candidate === named)
  if (revision === undefined) {
    return { kind: 'fault', refused: true, why: 'the server chose a revision that may not be spoken here' }
  }
  link.speak(revision)
  await link.post(notificationText('notifications/initialized'))
  return {
    kind: 'agreed',
    agreement: {
      revision,
      era: 'legacy',
      serverInfo: objectOf(outcome.value, 'serverInfo'),
      capabilities: objectOf(outcome.value, 'capabilities'),
      instructions: textMember(outcome.value, 'instructions'),
    },
  }
}

function objectOf(object: JsonObject, key: string): JsonObject {
  const value = member(object, key)
  return isJsonObject(value) ? value : {}
}
