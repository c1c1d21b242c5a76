import type { IncomingHttpHeaders } from 'node:http'
import { logLevels } from '../../flow/receipt/receipt.ts'
import { type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { metaKeys } from '../wire/envelope.ts'
import { headerNames, namedBy, textOfHeaderValue } from '../wire/headers.ts'
import { type RequestId, errorCodes } from '../wire/jsonrpc.ts'
import { type DownstreamOptions, revisionsOf } from './options.ts'
import { one } from './posted.ts'
import { type Reply, failure } from './reply.ts'
import { type Client, clientOf, metaOf } from './request.ts'

/** What a request says of the revision it is written in. */
export type Envelope =
  | { readonly kind: 'legacy' }
  | { readonly kind: 'modern'; readonly client: Client }
  | { readonly kind: 'wrong'; readonly reply: Reply }

interface Asked {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
}

const LEGACY: Envelope = Object.freeze({ kind: 'legacy' })

/**
 * Tells the era of one request by its own `_meta` alone (2026-07-28, "_meta" and "Streamable HTTP"): headers may only
 * agree with it. Without headers the request came by a pipe, and there is nothing to agree.
 */
export function envelopeOf(
  asked: Asked,
  headers: IncomingHttpHeaders | undefined,
  options: DownstreamOptions,
): Envelope {
  const modern = revisionsOf('modern', options)
  if (modern.length === 0) return LEGACY
  const meta = metaOf(asked.params)
  const claimed = member(meta, metaKeys.protocolVersion)
  const inHeader = headers === undefined ? undefined : one(headers, headerNames.protocolVersion)
  const headerIsModern = modern.some((revision) => revision === inHeader)
  const claimIsModern = modern.some((revision) => revision === claimed)

  // The handshake is legacy by definition, unless the request proves that it is not.
  if (asked.method === 'initialize' && !(claimIsModern && faultIn(meta) === undefined)) {
    return headerIsModern ? mismatch(asked, 'initialize was sent with the header of a revision without it') : LEGACY
  }
  if (claimed === undefined) return headerIsModern ? wrong(asked, `_meta lacks ${metaKeys.protocolVersion}`) : LEGACY
  const fault = faultIn(meta)
  if (fault !== undefined) return wrong(asked, fault)
  if (headers !== undefined) {
    if (inHeader !== undefined && inHeader !== claimed)
      return mismatch(asked, 'MCP-Protocol-Version differs from _meta')
    const method = one(headers, headerNames.method)
    if (method !== undefined && method !== asked.method) return mismatch(asked, 'Mcp-Method differs from the method')
  }
  if (!claimIsModern) return { kind: 'wrong', reply: unsupported(asked.id, claimed as string, modern) }
  const disagreement = headers === undefined ? undefined : missingOrWrong(asked, headers)
  if (disagreement !== undefined) return mismatch(asked, disagreement)
  return {
    kind: 'modern',
    client: clientOf(member(meta, metaKeys.clientInfo), member(meta, metaKeys.clientCapabilities)),
  }
}

/** -32022: the client may choose another of the revisions that are named. */
export function unsupported(id: RequestId | null, requested: string, supported: readonly string[]): Reply {
  const data = { supported: [...supported], requested: requested.slice(0, 64) }
  return failure(id, errorCodes.unsupportedVersion, 'Unsupported protocol version', data, 400)
}

/** -32020: what a header says is not what the body says. Only the body is acted on. */
export function headerMismatch(id: RequestId | null, why: string): Reply {
  return failure(id, errorCodes.headerMismatch, `Header mismatch: ${why}`, undefined, 400)
}

function faultIn(meta: JsonObject): string | undefined {
  if (typeof member(meta, metaKeys.protocolVersion) !== 'string') return `${metaKeys.protocolVersion} is not text`
  if (!isJsonObject(member(meta, metaKeys.clientCapabilities))) return `_meta lacks ${metaKeys.clientCapabilities}`
  const info = member(meta, metaKeys.clientInfo)
  if (info !== undefined) {
    const named =
      isJsonObject(info) && textMember(info, 'name') !== undefined && textMember(info, 'version') !== undefined
    if (!named) return `${metaKeys.clientInfo} has no name or no version`
  }
  const level = member(meta, metaKeys.logLevel)
  if (level !== undefined && !(logLevels as readonly unknown[]).includes(level))
    return `${metaKeys.logLevel} is no level`
  return undefined
}

function missingOrWrong(asked: Asked, headers: IncomingHttpHeaders): string | undefined {
  if (one(headers, headerNames.protocolVersion) === undefined) return 'MCP-Protocol-Version is missing'
  if (one(headers, headerNames.method) === undefined) return 'Mcp-Method is missing'
  const named = namedBy(asked.method, asked.params)
  if (named === undefined) return undefined
  const header = one(headers, headerNames.name)
  if (header === undefined) return 'Mcp-Name is missing'
  return textOfHeaderValue(header) === named ? undefined : 'Mcp-Name differs from what the body names'
}

function wrong(asked: Asked, why: string): Envelope {
  return { kind: 'wrong', reply: failure(asked.id, errorCodes.invalidParams, `Invalid params: ${why}`, undefined, 400) }
}

function mismatch(asked: Asked, why: string): Envelope {
  return { kind: 'wrong', reply: headerMismatch(asked.id, why) }
}
