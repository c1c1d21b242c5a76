import type { LogLevel, TraceContext } from '../../flow/receipt/receipt.ts'
import type { Permit } from '../../flow/side-effect/operation.ts'
import type { ApprovedTool } from '../../flow/tool/selected.ts'
import { isJsonObject, member, type JsonObject } from '../../words/json.ts'
import { metaText, withMeta } from '../wire/envelope.ts'
import { mirroredParameters, parameterHeaders, type Mirrored } from '../wire/headers.ts'
import { requestText } from '../wire/jsonrpc.ts'
import { eraOf, type Revision } from '../wire/revisions.ts'
import { nameHeaders } from './ask.ts'
import type { LegRequest, Link } from './link.ts'
import type { Round } from './rounds.ts'

type Request = Omit<LegRequest, 'end'>

const methods = { tool: 'tools/call', prompt: 'prompts/get', resource: 'resources/read' } as const

/** Whether a request of this method is a call that the flow has to let through. */
export function isGoverned(method: string): boolean {
  return (Object.values(methods) as string[]).includes(method)
}

/** What the caller wants to hear and to be known by while its call is under way. */
export interface Wants {
  readonly progress: boolean
  /** Only where the server is of the modern era and says that it logs. */
  readonly logLevel: LogLevel | undefined
  readonly trace: TraceContext | undefined
  /** What the server may ask of the caller, of the modern era only. */
  readonly offers: JsonObject | undefined
}

/**
 * The request for one attempt. The arguments go in as the canonical text that was judged, shown and approved: nothing is
 * written anew from objects. Answers a reason where the definition does not allow a request.
 */
export function callOf(
  permit: Permit,
  link: Link,
  revision: Revision,
  wants: Wants,
  round: Round = {},
): Request | string {
  const { tool, proposal } = permit.action
  const method = methods[tool.kind]
  const id = link.nextId()
  const key = permit.lane === 'effect' ? tool.profile.upstreamKey : undefined
  const meta = metaText(revision, {
    progressToken: wants.progress ? id : undefined,
    idempotencyKey: permit.lane === 'effect' ? permit.upstreamKey : undefined,
    logLevel: wants.logLevel,
    trace: wants.trace,
    offers: wants.offers,
    idempotencyName: key?.in === 'meta' ? key.name : undefined,
  })
  const text = requestText(id, method, withRound(paramsOf(permit, meta), round))
  const keyHeader = key?.in === 'header' ? [key.name.toLowerCase(), permit.upstreamKey] : []
  if (link.transport !== 'http' || eraOf(revision) === 'legacy') return { id, method, text, headers: keyHeader }

  const headers = keyHeader.concat(
    nameHeaders(revision, method, tool.kind === 'resource' ? proposal.arguments : { name: tool.name }),
  )
  if (tool.kind === 'tool') {
    const mirrored = mirroredOf(tool)
    if (mirrored.kind === 'invalid') return `the definition may not be used over HTTP: ${mirrored.why}`
    if (mirrored.parameters.length > 0) headers.push(...parameterHeaders(mirrored.parameters, proposal.arguments))
  }
  return { id, method, text, headers }
}

function paramsOf(permit: Permit, meta: string | undefined): string {
  const { tool, proposal } = permit.action
  if (tool.kind === 'resource') return withMeta(proposal.canonical, meta)
  const named = `{"name":${JSON.stringify(tool.name)},"arguments":${argumentsOf(permit)}`
  return meta === undefined ? `${named}}` : `${named},"_meta":${meta}}`
}

/** `params` is the JSON text of an object that is not empty. */
function withRound(params: string, round: Round): string {
  const members = JSON.stringify(round).slice(1, -1)
  return members === '' ? params : `${params.slice(0, params.lastIndexOf('}'))},${members}}`
}

/** The judged text, with our key put in where the server reads it as an argument: the proposal has no such member. */
function argumentsOf({ action: { tool, proposal }, lane, upstreamKey }: Permit): string {
  const key = tool.profile.upstreamKey
  if (lane !== 'effect' || key?.in !== 'argument') return proposal.canonical
  const rest = proposal.canonical.slice(1)
  return `{${JSON.stringify(key.name)}:${JSON.stringify(upstreamKey)}${rest === '}' ? '' : ','}${rest}`
}

const known = new WeakMap<object, Mirrored>()

function mirroredOf(tool: ApprovedTool): Mirrored {
  let mirrored = known.get(tool.definition)
  if (mirrored === undefined) {
    const schema = member(tool.definition, 'inputSchema')
    mirrored = isJsonObject(schema) ? mirroredParameters(schema) : { kind: 'valid', parameters: [] }
    known.set(tool.definition, mirrored)
  }
  return mirrored
}
