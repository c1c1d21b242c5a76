import { type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { errorCodes } from '../wire/jsonrpc.ts'
import { ownResult, toolError } from './answers.ts'
import type { OperationStatus } from './ports.ts'
import { type Reply, failure } from './reply.ts'
import type { ClientRequest } from './request.ts'

export const STATUS_TOOL = 'countersign__operation_status'

// It has no output schema on purpose: clients would refuse its answer when there is no such operation.
const DEFINITION = Buffer.from(
  JSON.stringify({
    name: STATUS_TOOL,
    title: 'What became of an operation',
    description:
      'Says what is known of one of your earlier calls, by the operation id that its answer named. It changes nothing and repeats nothing.',
    inputSchema: {
      type: 'object',
      properties: { operation: { type: 'string', description: 'The id, e.g. op_…' } },
      required: ['operation'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  }),
)

const extended = new WeakMap<Buffer, Buffer>()

/** A list of tools with ours at its end. Like the list it is made once, and handed out until there is a new list. */
export function withStatusTool(tools: Buffer): Buffer {
  let longer = extended.get(tools)
  if (longer === undefined) {
    const end = tools.lastIndexOf(']')
    const isEmpty = tools.subarray(0, end).lastIndexOf('{') === -1
    longer = Buffer.concat([tools.subarray(0, end), Buffer.from(isEmpty ? '' : ','), DEFINITION, Buffer.from(']')])
    extended.set(tools, longer)
  }
  return longer
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
