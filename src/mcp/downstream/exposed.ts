import type { Principal } from '../../flow/principal/principal.ts'
import { type Json, type JsonObject, member, textMember } from '../../words/json.ts'
import { type ToolSearch, textOf } from '../catalogue/search/tool-search.ts'
import { type Verb, answerText, meantBy, namesOf, verbDefinitions, verbOf, wishOf } from '../catalogue/search/verbs.ts'
import { ownResult, toolError } from './answers.ts'
import type { FrontDoor } from './front-door.ts'
import type { Peer } from './peer.ts'
import { type Client, type ClientRequest, type Outlet } from './request.ts'
import { TaskOutlet } from './task-outlet.ts'

/** How much of the catalogue a client's model is shown. */
export interface Exposure {
  /** `bytes`: of the whole list as it would be shown. */
  modeOf(principal: Principal, client: Client, bytes: number): 'all' | 'search' | 'code'
  readonly search: Pick<ToolSearch, 'search' | 'describe'>
  readonly code: CodeDoor
}

/** The tools of code mode: to read what functions there are, and to run a program that calls them. */
export interface CodeDoor {
  /** JSON text of the list of the two. */
  readonly list: Buffer
  answers(name: string): boolean
  /** A `tools/call` result. */
  /** Makes no further call after the signal; what is under way may end. */
  answer(request: ClientRequest, name: string, given: Json, signal: AbortSignal): Promise<JsonObject>
}

const THREE = Buffer.from(JSON.stringify(verbDefinitions))

/** The list that this client is shown: all of it, or the three tools that stand for it. */
export function exposedList(
  list: Buffer,
  { principal, client }: ClientRequest,
  exposure: Exposure | undefined,
): Buffer {
  const mode = exposure?.modeOf(principal, client, list.length) ?? 'all'
  return mode === 'search' ? THREE : mode === 'code' ? exposure!.code.list : list
}

type CallTool = (request: ClientRequest, outlet: Outlet, door: FrontDoor, peer: Peer | undefined) => void

/**
 * A call of one of the three tools. They answer whoever asks, also a client that is shown everything, since they tell nobody
 * more than a list does. False where it is a call of another tool.
 */
export function callVerb(
  request: ClientRequest,
  outlet: Outlet,
  door: FrontDoor,
  peer: Peer | undefined,
  callTool: CallTool,
): boolean {
  const { exposure } = door.ports
  const name = textMember(request.params, 'name')
  if (exposure !== undefined && name !== undefined && exposure.code.answers(name)) {
    void runProgram(name, exposure.code, { request, outlet, door, peer })
    return true
  }
  const verb = exposure && verbOf(name)
  if (exposure === undefined || verb === undefined) return false
  const given = member(request.params, 'arguments')
  if (verb === 'call') {
    const meant = meantBy(given)
    if (typeof meant === 'string') outlet.reply(wrong(request, verb, meant))
    // From here on it is a call of the real tool: every gate, the record and the answer know of no other name.
    else
      callTool(
        { ...request, params: { ...request.params, name: meant.name, arguments: meant.given } },
        outlet,
        door,
        peer,
      )
    return true
  }
  void answered(verb, request, exposure).then(
    (text) => outlet.reply(ownResult(request, `"content":[{"type":"text","text":${JSON.stringify(text)}}]`)),
    (fault: unknown) => {
      if (!(fault instanceof Misasked)) door.ports.onFault(fault, request.method)
      outlet.reply(wrong(request, verb, fault instanceof Misasked ? fault.message : 'the search is broken'))
    },
  )
  return true
}

interface Asked {
  readonly request: ClientRequest
  readonly outlet: Outlet
  readonly door: FrontDoor
  readonly peer: Peer | undefined
}

/** A program ends with its caller: one that left, or cancelled, is not there to hear of further calls. */
async function runProgram(name: string, code: CodeDoor, { request, outlet, door, peer }: Asked): Promise<void> {
  const over = new AbortController()
  const running = {
    id: request.id,
    cancel: (why: string): void => {
      over.abort(new Error(why))
      outlet.abandon()
    },
  }
  outlet.onLeft = () => running.cancel('the client closed the stream')
  if (outlet instanceof TaskOutlet) outlet.onWithdrawn = () => over.abort(new Error('the task was cancelled'))
  peer?.began(running)
  const ended = door.callers.began(request.principal)
  try {
    const result = await code.answer(request, name, member(request.params, 'arguments') ?? {}, over.signal)
    outlet.reply(ownResult(request, JSON.stringify(result).slice(1, -1)))
  } catch (fault) {
    door.ports.onFault(fault, request.method)
    outlet.reply(ownResult(request, toolError('the sandbox is broken')))
  } finally {
    outlet.onLeft = undefined
    peer?.ended(running)
    ended()
  }
}

class Misasked extends Error {}

const SEARCH_MS = 5_000

async function answered(
  verb: Exclude<Verb, 'call'>,
  { principal, params }: ClientRequest,
  { search }: Exposure,
): Promise<string> {
  const given = member(params, 'arguments')
  if (verb === 'search') {
    const wish = wishOf(given)
    if (typeof wish === 'string') throw new Misasked(wish)
    return answerText(await search.search(principal, wish, AbortSignal.timeout(SEARCH_MS)))
  }
  const names = namesOf(given)
  if (typeof names === 'string') throw new Misasked(names)
  const found = search.describe(principal, names)
  const missing = names.filter((name) => !found.some((tool) => tool.key === name || tool.exportedName === name))
  return [
    ...found.map((tool) => textOf(tool, 'schema')),
    ...missing.map((name) => `${name.slice(0, 256)}: there is no tool of that name`),
  ].join('\n')
}

function wrong(request: ClientRequest, verb: Verb, why: string) {
  return ownResult(request, toolError(`${verb}: ${why}`))
}
