import { codeOffers, codeToolbox, codeTools, defaultCodeLimits, type Executor, Journals } from '../code/index.ts'
import type { ToolAnswer, Toolbox, ToolOffer } from '../model/toolbox.ts'
import { toolAnswerOf } from '../model/toolbox.ts'
import type { CodeDoor } from '../mcp/downstream/exposed.ts'
import type { ClientRequest } from '../mcp/downstream/request.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../words/json.ts'
import type { Core } from './assemble.ts'

/** Code mode for clients of the gateway: the two tools, and behind them the tools of whoever asks, by their own credential. */
export function codeDoorOf(core: Core, executor: Executor): CodeDoor {
  const shown = codeOffers.map(({ exported, title, description, inputSchema }) => ({
    name: exported,
    title,
    description,
    inputSchema,
  }))
  const journals = new Journals()
  const names: ReadonlySet<string> = new Set(Object.values(codeTools))
  return {
    list: Buffer.from(JSON.stringify(shown)),
    answers: (name) => names.has(name),
    answer: async (request, name, given, signal) => {
      const { tenant, id } = request.principal
      const place = { executor, limits: defaultCodeLimits, journals, owner: `${tenant}\n${id}` }
      const toolbox = codeToolbox(toolboxOf(core, request), place)
      const call = {
        exported: name,
        argumentsText: JSON.stringify(given),
        callId: String(request.id),
        conversation: request.session ?? '',
      }
      return resultOf(await toolbox.call(call, signal))
    },
  }
}

function toolboxOf(core: Core, { principal, client, session, credential }: ClientRequest): Toolbox {
  return {
    offers: () =>
      Promise.resolve(
        offersOf(core, JSON.parse(core.shelf.list(principal, 'tools').toString('utf8')) as readonly Json[]),
      ),
    call: async ({ exported, argumentsText, callId, requestKey }, signal) => {
      const origin = {
        door: 'code' as const,
        callId,
        ...(client.name !== '' && { client: { name: client.name, version: client.version } }),
        ...(session !== undefined && { session }),
        ...(requestKey !== undefined && { requestKey }),
      }
      const asked = {
        target: { kind: 'tool' as const, exported },
        arguments: { text: argumentsText },
        origin,
        credential,
      }
      // A program that has to wait is ended, with its name: it goes on when it is begun again.
      return toolAnswerOf(await core.flow.call(asked, { consent: 'wait', consentWaitMs: 0 }, signal))
    },
  }
}

/** What the list shows this principal, and so what was approved and may be called. */
function offersOf(core: Core, list: readonly Json[]): readonly ToolOffer[] {
  return list.filter(isJsonObject).flatMap((definition) => {
    const exported = textMember(definition, 'name') ?? ''
    const found = core.catalogue.find({ kind: 'tool', exported })
    const schema = member(definition, 'inputSchema')
    if (found.state !== 'approved') return []
    const { server } = found.tool
    return [
      {
        exported,
        server,
        description: textMember(definition, 'description') ?? '',
        inputSchema: isJsonObject(schema) ? schema : {},
      },
    ]
  })
}

function resultOf(answer: ToolAnswer): JsonObject {
  if (answer.kind === 'result') return answer.value
  const text = answer.kind === 'refused' ? `${answer.code}: ${answer.say} ${answer.next}` : answer.why
  return { content: [{ type: 'text', text }], isError: true }
}
