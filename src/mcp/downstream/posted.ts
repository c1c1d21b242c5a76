import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { JsonObject } from '../../words/json.ts'
import { member } from '../../words/json.ts'
import { metaKeys } from '../wire/envelope.ts'
import { headerNames } from '../wire/headers.ts'
import { modernRevisions } from '../wire/revisions.ts'
import type { Asker } from './bearer.ts'
import { metaOf } from './request.ts'

/** One POST whose body is in, and who sent it. */
export interface Posted {
  readonly asker: Asker
  readonly headers: IncomingHttpHeaders
  readonly response: ServerResponse
  /** The client takes event streams. */
  readonly streams: boolean
}

/** A header's value; node joins repeated ones with a comma, so that they match nothing. */
export function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

export function namesModern(headers: IncomingHttpHeaders): boolean {
  const version = headers[headerNames.protocolVersion]
  return version !== undefined && (modernRevisions as readonly unknown[]).includes(version)
}

/** Notifications need no envelope in the modern era; what they claim decides, and the header where they claim nothing. */
export function isModernNotification(params: JsonObject, headers: IncomingHttpHeaders): boolean {
  const claimed = member(metaOf(params), metaKeys.protocolVersion)
  return claimed === undefined ? namesModern(headers) : (modernRevisions as readonly unknown[]).includes(claimed)
}

/** JSON in UTF-8 as it is: a compressed body would have to be unpacked before its size is known. */
export function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return false
  const type = headers['content-type']
  return type === 'application/json' || (type !== undefined && PLAIN_JSON.test(type))
}

const PLAIN_JSON = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?;?$/i

/** Which of our two forms a client takes; undefined where it takes neither. Clients that say nothing take both. */
export function acceptedForms(accept: string | undefined): { readonly streams: boolean } | undefined {
  if (accept === undefined || accept === USUAL) return BOTH
  let json = false
  let streams = false
  for (const part of accept.toLowerCase().split(',')) {
    const [range, ...parameters] = part.split(';').map((piece) => piece.trim())
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) continue
    json ||= range === 'application/json' || range === 'application/*' || range === '*/*'
    streams ||= range === 'text/event-stream' || range === 'text/*' || range === '*/*'
  }
  return json || streams ? { streams } : undefined
}

const USUAL = 'application/json, text/event-stream'
const BOTH = Object.freeze({ streams: true })
