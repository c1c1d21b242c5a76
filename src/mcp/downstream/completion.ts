import { maskText } from '../../flow/result/index.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import type { Completing } from '../catalogue/sources.ts'
import { metaKeys } from '../wire/envelope.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { ownResult } from './answers.ts'
import { Errand } from './errand.ts'
import type { FrontDoor } from './front-door.ts'
import type { Peer } from './peer.ts'
import { type Reply, failure } from './reply.ts'
import type { ClientRequest, Outlet } from './request.ts'

/** As many values as one answer may hold (2025-11-25 and 2026-07-28, "Completion"). */
const MOST_VALUES = 100

/** `completion/complete`: passed on to the server of the prompt or template, where the principal may see that. */
export function complete(request: ClientRequest, outlet: Outlet, door: FrontDoor, peer?: Peer): void {
  const asked = askedFor(request.params)
  if (typeof asked === 'string') return outlet.reply(failure(request.id, errorCodes.invalidParams, asked))
  Errand.run(request, outlet, door, peer, async (signal) => {
    const outcome = await door.ports.sources.complete(request.principal, asked, signal)
    switch (outcome?.kind) {
      case undefined:
        return failure(request.id, errorCodes.invalidParams, 'There is nothing of that name to complete')
      case 'reply':
        return completed(request, outcome.value)
      case 'error': {
        const code = outcome.code === errorCodes.invalidParams ? outcome.code : errorCodes.internal
        return failure(request.id, code, maskText(outcome.message).text)
      }
      default:
        return failure(request.id, errorCodes.internal, 'The server gave no answer')
    }
  })
}

function askedFor(params: JsonObject): Completing | string {
  const ref = member(params, 'ref')
  const argument = member(params, 'argument')
  if (!isJsonObject(ref) || !isJsonObject(argument)) return 'params.ref or params.argument is missing'
  const name = textMember(argument, 'name')
  const value = textMember(argument, 'value')
  if (name === undefined || value === undefined) return 'params.argument has no name or no value'
  const context = member(params, 'context')
  if (context !== undefined && !isContext(context)) return 'params.context holds arguments, which are texts'
  const rest = { argument: { name, value }, ...(isJsonObject(context) && { context }) }
  const prompt = textMember(ref, 'name')
  const uri = textMember(ref, 'uri')
  const type = member(ref, 'type')
  if (type === 'ref/prompt' && prompt !== undefined) return { ref: { type, name: prompt }, ...rest }
  if (type === 'ref/resource' && uri !== undefined) return { ref: { type, uri }, ...rest }
  return 'params.ref names neither a prompt nor a resource template'
}

function isContext(context: Json): boolean {
  if (!isJsonObject(context)) return false
  const given = member(context, 'arguments')
  if (given === undefined) return true
  return isJsonObject(given) && Object.values(given).every((value) => typeof value === 'string')
}

/** Members that we do not know are the server's and stay; what belongs to its hop does not. */
function completed(request: ClientRequest, result: JsonObject): Reply {
  const completion = member(result, 'completion')
  const values = isJsonObject(completion) ? member(completion, 'values') : undefined
  if (!isJsonObject(completion) || !Array.isArray(values) || values.some((value) => typeof value !== 'string')) {
    return failure(request.id, errorCodes.internal, 'The server’s answer is no completion')
  }
  const kept = values.length > MOST_VALUES ? { values: values.slice(0, MOST_VALUES), hasMore: true } : {}
  const { resultType: _kind, _meta: meta, ...rest } = result
  const { [metaKeys.serverInfo]: _server, ...about } = isJsonObject(meta) ? meta : {}
  const text = JSON.stringify({ ...rest, completion: { ...completion, ...kept } })
  return ownResult(request, maskText(text).text.slice(1, -1), about)
}
