import { type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { ownResult, replyTo, toolError } from './answers.ts'
import type { OperationStatus } from './ports.ts'
import { type Reply, failure } from './reply.ts'
import type { ClientRequest, Outlet } from './request.ts'

export const STATUS_TOOL = 'countersign__operation_status'

export const WAIT_TOOL = 'countersign__operation_wait'

const operation = { type: 'string', description: 'The id, e.g. op_…' }
const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
const MOST_SECONDS = 50

// They have no output schema on purpose: clients would refuse their answers when there is no such operation.
const STATUS = definition({
  name: STATUS_TOOL,
  title: 'What became of an operation',
  description:
    'Says what is known of one of your earlier calls, by the operation id that its answer named. It changes nothing and repeats nothing.',
  inputSchema: { type: 'object', properties: { operation }, required: ['operation'], additionalProperties: false },
  annotations: readOnly,
})

const WAIT = definition({
  name: WAIT_TOOL,
  title: 'Wait for an operation',
  description: `Waits until one of your earlier calls, whose outcome was not known yet, has come to its end, and gives its result where there is one. Use it instead of making the call again. It waits ${MOST_SECONDS} seconds at most; if the operation is still open then, wait again.`,
  inputSchema: {
    type: 'object',
    properties: { operation, seconds: { type: 'integer', minimum: 1, maximum: MOST_SECONDS } },
    required: ['operation'],
    additionalProperties: false,
  },
  annotations: readOnly,
})

function definition(it: object): Buffer {
  return Buffer.from(JSON.stringify(it))
}

const extended = new WeakMap<Buffer, Buffer>()

/** A list of tools with ours at its end. Like the list it is made once, and handed out until there is a new list. */
export function withOwnTools(tools: Buffer, operations: Pick<OperationStatus, 'wait'>): Buffer {
  let longer = extended.get(tools)
  if (longer === undefined) {
    const end = tools.lastIndexOf(']')
    const isEmpty = tools.subarray(0, end).lastIndexOf('{') === -1
    const comma = Buffer.from(',')
    longer = Buffer.concat([
      tools.subarray(0, end),
      ...(isEmpty ? [] : [comma]),
      STATUS,
      ...(operations.wait === undefined ? [] : [comma, WAIT]),
      Buffer.from(']'),
    ])
    extended.set(tools, longer)
  }
  return longer
}

/** Answers later, and asks nobody but the record: the call that is waited for is never made again. */
export function callWaitTool(request: ClientRequest, outlet: Outlet, operations: OperationStatus): void {
  const given = member(request.params, 'arguments')
  const named = isJsonObject(given) ? textMember(given, 'operation') : undefined
  if (named === undefined)
    return outlet.reply(failure(request.id, errorCodes.invalidParams, 'arguments.operation is missing'))
  const asked = isJsonObject(given) ? member(given, 'seconds') : undefined
  const seconds = typeof asked === 'number' ? Math.min(MOST_SECONDS, Math.max(1, asked)) : 25
  const left = new AbortController()
  outlet.onLeft = () => left.abort()
  const { tenant, id } = request.principal
  void waitFor(operations, { tenant, principal: id }, named, seconds * 1000, left.signal)
    .then((known) => {
      if (known === undefined) return ownResult(request, toolError('There is no such operation of yours.'))
      return known.answer === undefined ? ownResult(request, found(known.status)) : replyTo(request, known.answer)
    })
    .catch(() => failure(request.id, errorCodes.internal, 'Internal error'))
    .then((reply) => {
      outlet.onLeft = undefined
      if (left.signal.aborted) outlet.abandon()
      else outlet.reply(reply)
    })
}

async function waitFor(
  operations: OperationStatus,
  ...asked: Parameters<NonNullable<OperationStatus['wait']>>
): Promise<Awaited<ReturnType<NonNullable<OperationStatus['wait']>>>> {
  return operations.wait?.(...asked)
}

/** A question about the caller's own record, and no proposal: nothing is sent to anybody. */
export function callStatusTool(request: ClientRequest, operations: OperationStatus): Reply {
  const given = member(request.params, 'arguments')
  const operation = isJsonObject(given) ? textMember(given, 'operation') : undefined
  if (operation === undefined) return failure(request.id, errorCodes.invalidParams, 'arguments.operation is missing')
  const { tenant, id } = request.principal
  const status = operations.status({ tenant, principal: id }, operation)
  return ownResult(request, status === undefined ? toolError('There is no such operation of yours.') : found(status))
}

function found(status: JsonObject): string {
  const text = JSON.stringify(status)
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}`
}
