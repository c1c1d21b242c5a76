import type { CallReport } from '../api/contract.ts'
import type { ControlClient } from '../gateway/control/client.ts'
import { MOST_MATCHES } from '../mcp/catalogue/search/tool-search.ts'
import { soughtOf } from '../mcp/catalogue/search/verbs.ts'
import type { Finder } from '../model/exposure.ts'
import { refusedAnswer, type ToolAnswer, type Toolbox } from '../model/toolbox.ts'

/** The tools of a running gateway for a model's loop in this process. Every call is a proposal by the door `host`, or `code` where a program makes it. */
export function remoteToolbox(
  client: ControlClient,
  onCall: (callId: string) => void,
  onReport: (report: CallReport) => void,
): Toolbox {
  return {
    offers: (signal) => client.offers(signal),
    call: async ({ exported, argumentsText, callId, conversation, door, requestKey }, signal) => {
      onCall(callId)
      const keyed = requestKey === undefined ? {} : { requestKey }
      const request = {
        target: { exported },
        arguments: argumentsText,
        door: door ?? ('host' as const),
        callId,
        conversation,
        ...keyed,
      }
      const { report } = await client.call(request, signal)
      onReport(report)
      return toolAnswer(report)
    },
  }
}

/** Search of a running gateway, over what its owner may see. */
export function remoteFinder(client: ControlClient): Finder {
  return {
    find: async ({ request, limit, server }, signal) => {
      const query = {
        query: request.slice(0, 4_000),
        ...(limit === undefined ? {} : { limit: Math.min(limit, MOST_MATCHES) }),
        ...(server === undefined ? {} : { server }),
      }
      return soughtOf(await client.searchTools(query, signal))
    },
  }
}

export function toolAnswer(report: CallReport): ToolAnswer {
  switch (report.kind) {
    case 'answered': {
      const { result, isError, operation, acceptance, remarks } = report
      return {
        kind: 'result',
        value: result,
        isError,
        operation,
        acceptance,
        ...(remarks.signs.length > 0 ? { signs: remarks.signs } : {}),
        ...(remarks.spilled === undefined ? {} : { spilled: remarks.spilled }),
      }
    }
    case 'upstream-error': {
      const text = `The server answered with the error ${report.error.code}: ${report.error.message}`
      return {
        kind: 'result',
        value: { content: [{ type: 'text', text }], isError: true },
        isError: true,
        operation: report.operation,
      }
    }
    case 'refused':
      return refusedAnswer(report.code, report.facts, report)
    case 'unknown':
      return { kind: 'unknown', operation: report.operation, why: report.why }
    default:
      return report satisfies never
  }
}
