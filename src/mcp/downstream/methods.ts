import { member, textMember } from '../../words/json.ts'
import type { ShelfList } from '../catalogue/shelf.ts'
import { EXTENSION_TASKS, implementation, metaKeys } from '../wire/envelope.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import type { Era } from '../wire/revisions.ts'
import { ownResult } from './answers.ts'
import { callTool, getPrompt, readResource } from './calls.ts'
import { complete } from './completion.ts'
import { callVerb, exposedList } from './exposed.ts'
import type { FrontDoor } from './front-door.ts'
import { setLevel } from './logging.ts'
import { STATUS_TOOL, WAIT_TOOL, callStatusTool, callWaitTool, withOwnTools } from './operation-status.ts'
import { revisionsOf } from './options.ts'
import type { Peer } from './peer.ts'
import { failure, spliced } from './reply.ts'
import type { ClientRequest, Outlet } from './request.ts'
import { isSpilled, readSpilled } from './spilled.ts'
import { cancelTask, getTask, updateTask } from './tasks.ts'
import { subscribe, unsubscribe } from './watching.ts'

type Method = (request: ClientRequest, outlet: Outlet, door: FrontDoor, peer: Peer | undefined) => void

/** How long a client may keep a list. Short: what may not be called any more should not be seen for long. */
const LIST_TTL_MS = 5_000

/** What we serve, in both eras. Nothing that is not declared here is answered with anything but "method not found". */
export const capabilities = Object.freeze({
  tools: Object.freeze({ listChanged: true }),
  prompts: Object.freeze({ listChanged: true }),
  resources: Object.freeze({ subscribe: true, listChanged: true }),
  completions: Object.freeze({}),
  logging: Object.freeze({}),
})

const inBoth: ReadonlyArray<readonly [string, Method]> = [
  ['tools/list', listOf('tools')],
  ['tools/call', tool],
  ['prompts/list', listOf('prompts')],
  ['prompts/get', getPrompt],
  ['resources/list', listOf('resources')],
  ['resources/templates/list', listOf('resourceTemplates')],
  ['resources/read', resource],
  ['completion/complete', complete],
]

const methods: Readonly<Record<Era, ReadonlyMap<string, Method>>> = {
  // `initialize` makes a session and is the transports' own.
  legacy: new Map([
    ...inBoth,
    ['ping', (request, outlet) => outlet.reply(ownResult(request, ''))],
    ['logging/setLevel', setLevel],
    ['resources/subscribe', subscribe],
    ['resources/unsubscribe', unsubscribe],
  ]),
  modern: new Map([
    ...inBoth,
    ['server/discover', discover],
    ['tasks/get', getTask],
    ['tasks/update', updateTask],
    ['tasks/cancel', cancelTask],
    ['subscriptions/listen', (request, outlet, door, peer) => door.subscriptions.listen(request, outlet, door, peer)],
  ]),
}

/** Answers one request, now or later, through its outlet. Throws nothing. */
export function serve(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer?: Peer): void {
  const method = methods[request.era].get(request.method)
  if (method === undefined) return outlet.reply(unknownMethod(request))
  try {
    method(request, outlet, door, peer)
  } catch (fault) {
    door.ports.onFault(fault, request.method)
    outlet.reply(failure(request.id, errorCodes.internal, 'Internal error'))
  }
}

function unknownMethod(request: ClientRequest) {
  const status = request.era === 'modern' ? 404 : 200
  return failure(request.id, errorCodes.methodNotFound, 'Method not found', undefined, status)
}

/** A list is one page, and its bytes are those that the shelf keeps ready. */
function listOf(what: ShelfList): Method {
  const before = `{"${what}":`
  const legacy = '}'
  const about = JSON.stringify({ [metaKeys.serverInfo]: implementation })
  const modern = `,"resultType":"complete","ttlMs":${LIST_TTL_MS},"cacheScope":"private","_meta":${about}}`
  return (request, outlet, door) => {
    if (member(request.params, 'cursor') !== undefined) {
      return outlet.reply(failure(request.id, errorCodes.invalidParams, 'No such cursor'))
    }
    let list = door.ports.shelf.list(request.principal, what)
    if (what === 'tools') list = exposedList(list, request, door.ports.exposure)
    if (what === 'tools' && door.ports.operations !== undefined) list = withOwnTools(list, door.ports.operations)
    outlet.reply(spliced(request.id, before, list, request.era === 'modern' ? modern : legacy))
  }
}

function tool(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer: Peer | undefined): void {
  const { operations } = door.ports
  if (operations !== undefined && member(request.params, 'name') === STATUS_TOOL) {
    return outlet.reply(callStatusTool(request, operations))
  }
  if (operations?.wait !== undefined && member(request.params, 'name') === WAIT_TOOL)
    return callWaitTool(request, outlet, operations)
  const kept = door.tasks.outletFor(request, outlet)
  if (!callVerb(request, kept, door, peer, callTool)) callTool(request, kept, door, peer)
}

function resource(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer: Peer | undefined): void {
  const uri = textMember(request.params, 'uri')
  if (uri === undefined) return outlet.reply(failure(request.id, errorCodes.invalidParams, 'params.uri is missing'))
  if (isSpilled(uri)) return outlet.reply(readSpilled(request, uri, door.ports.spill))
  readResource(request, uri, outlet, door, peer)
}

function discover(request: ClientRequest, outlet: Outlet, door: FrontDoor): void {
  const instructions = door.ports.shelf.instructions(request.principal)
  const members = {
    supportedVersions: revisionsOf('modern', door.options),
    capabilities: { ...capabilities, extensions: { [EXTENSION_TASKS]: {} } },
    ...(instructions !== '' && { instructions }),
    ttlMs: LIST_TTL_MS,
    cacheScope: 'private',
  }
  outlet.reply(ownResult(request, JSON.stringify(members).slice(1, -1)))
}
