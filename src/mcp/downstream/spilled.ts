import { errorCodes } from '../wire/jsonrpc.ts'
import { missingResource, ownKeys, ownResult } from './answers.ts'
import type { SpillReader } from './ports.ts'
import { type Reply, failure } from './reply.ts'
import type { ClientRequest } from './request.ts'

const SCHEME = 'countersign://'
const USUAL = 32_768
const MOST = 262_144

export function isSpilled(uri: string): boolean {
  return uri.slice(0, SCHEME.length).toLowerCase() === SCHEME
}

/**
 * `resources/read` of a result that was too large to be handed out whole. The part is chosen by `?offset=…&limit=…`, in
 * characters; `_meta` says how long the whole is, and the URI of the next part.
 */
export function readSpilled(request: ClientRequest, uri: string, spill: SpillReader): Reply {
  const mark = uri.indexOf('?')
  const whole = mark === -1 ? uri : uri.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? '' : uri.slice(mark + 1))
  const offset = count(query.get('offset'), 0)
  const limit = count(query.get('limit'), USUAL)
  if (offset === undefined || limit === undefined || limit === 0) {
    return failure(request.id, errorCodes.invalidParams, 'offset and limit are whole numbers', { uri })
  }
  const { tenant, id } = request.principal
  const page = spill.read({ tenant, principal: id }, whole, offset, Math.min(limit, MOST))
  if (page === undefined) return missingResource(request, uri)
  const contents = [{ uri, mimeType: page.mimeType, text: page.text }]
  const next = page.next === undefined ? undefined : `${whole}?offset=${page.next}&limit=${Math.min(limit, MOST)}`
  const meta = { offset: page.offset, total: page.total, ...(next !== undefined && { next }) }
  return ownResult(request, `"contents":${JSON.stringify(contents)}`, { [ownKeys.page]: meta })
}

function count(text: string | null, usual: number): number | undefined {
  if (text === null) return usual
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
