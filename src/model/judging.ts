import type { Proposed } from './hearing.ts'
import type { CallPart, ToolResult } from './port.ts'
import { readArguments } from './projection/arguments.ts'
import { isInherited } from './projection/names.ts'
import type { Projection } from './projection/offers.ts'
import { type PresentOptions, type Presented, present, presentNotRun, presentUnknown } from './projection/present.ts'
import type { Profile } from './projection/profiles.ts'
import type { CallRecord, Observer } from './report.ts'
import type { ToolAnswer, Toolbox } from './toolbox.ts'

export interface JudgingNeeds {
  readonly toolbox: Toolbox
  readonly projection: Projection
  readonly conversation: string
  readonly signal: AbortSignal
  readonly observe: Observer
  readonly profile: Profile
  /** How many calls may be handed to the toolbox. */
  readonly calls: number
  readonly present: PresentOptions
}

export interface Judged {
  readonly record: CallRecord
  /** The call and its result as the model sees them in later turns. */
  readonly part?: CallPart
  readonly result?: ToolResult
  /** The toolbox threw: the task cannot go on. */
  readonly fault?: string
}

/** Takes the proposals of one conversation to the toolbox, each at most once, each under an id of its own. */
export class Judging {
  readonly #needs: JudgingNeeds
  readonly #ids = new Set<string>()
  #handedOver = 0

  constructor(needs: JudgingNeeds) {
    this.#needs = needs
  }

  async judge(proposed: Proposed, turn: number): Promise<Judged> {
    const { projection, toolbox, conversation, signal, observe } = this.#needs
    const callId = this.#unique(proposed.id, turn)
    const base = recordOf(proposed, callId, turn)

    if (proposed.caller === 'provider') {
      // It stays out of the conversation: the provider would want a result of its own there.
      return { record: { ...base, verdict: 'not-run', why: 'the provider claims to run this call itself' } }
    }
    const tool = projection.byProjectedName(proposed.projectedName)
    const known: CallRecord = tool === undefined ? base : { ...base, exported: tool.exported }
    const notRun = (why: string): Judged => ({
      record: { ...known, verdict: 'not-run', why },
      ...shown(proposed, callId, {}, presentNotRun(why)),
    })
    if (proposed.caller === 'program') {
      const judged = notRun('the call was issued by a program at the provider, not by the model itself')
      // Replayed with its issuer it would refer to a program that is not in the conversation.
      return { ...judged, part: { ...judged.part!, replay: {} } }
    }
    if (tool === undefined) return notRun('There is no tool of that name. Use one of the tools that are listed.')
    const read = readArguments(proposed.rawArguments, tool.keys)
    if (read.kind === 'unreadable') return notRun(read.say)
    if (this.#handedOver >= this.#needs.calls) return notRun(`The limit of ${this.#needs.calls} calls is reached.`)

    this.#handedOver++
    const { exported } = tool
    observe({ kind: 'proposal', callId, exported, argumentsText: read.text })
    let answer: ToolAnswer
    try {
      answer = await toolbox.call({ exported, argumentsText: read.text, callId, conversation }, signal)
    } catch (fault) {
      const why = signal.aborted ? 'the task was ended while the call was under way' : messageOf(fault)
      return {
        record: { ...known, verdict: 'unknown', why },
        ...shown(proposed, callId, read.shown, presentUnknown(why)),
        fault: why,
      }
    }
    return {
      record: { ...known, ...verdictOf(answer) },
      ...shown(proposed, callId, read.shown, this.#presented(answer)),
    }
  }

  #presented(answer: ToolAnswer): Presented {
    const { projection, profile, present: options } = this.#needs
    const presented = present(answer, profile, options)
    if (answer.kind !== 'result' || answer.tools === undefined || !profile.defersTools) return presented
    const found = new Set(answer.tools)
    const references = projection.tools.filter(({ exported }) => found.has(exported)).map((tool) => tool.projectedName)
    return references.length === 0 ? presented : { ...presented, references }
  }

  /** A proposal that is not looked at any more. */
  leave(proposed: Proposed, turn: number, why: string): CallRecord {
    return { ...recordOf(proposed, this.#unique(proposed.id, turn), turn), verdict: 'not-run', why }
  }

  // The same id twice in a conversation makes providers refuse all of it from then on, so a second one gets a new id.
  #unique(id: string, turn: number): string {
    let callId = /^[\x21-\x7e]{1,64}$/.test(id) ? id : ''
    for (let n = 1; callId === '' || this.#ids.has(callId); n++) callId = `call_${turn}_${n}`
    this.#ids.add(callId)
    return callId
  }
}

function recordOf(
  proposed: Proposed,
  callId: string,
  turn: number,
): Omit<CallRecord, 'verdict'> & { verdict: 'not-run' } {
  return {
    turn,
    callId,
    projectedName: proposed.projectedName,
    argumentsText: proposed.rawArguments.slice(0, 4096).toWellFormed(),
    verdict: 'not-run',
  }
}

function verdictOf(answer: ToolAnswer): Pick<CallRecord, 'verdict' | 'code' | 'operation' | 'approval' | 'why'> {
  switch (answer.kind) {
    case 'result':
      return {
        verdict: answer.isError ? 'tool-error' : 'succeeded',
        ...(answer.operation === undefined ? {} : { operation: answer.operation }),
      }
    case 'refused':
      return {
        verdict: 'refused',
        code: answer.code,
        why: answer.say,
        ...(answer.operation === undefined ? {} : { operation: answer.operation }),
        ...(answer.approval === undefined ? {} : { approval: answer.approval }),
      }
    case 'unknown':
      return { verdict: 'unknown', operation: answer.operation, why: answer.why }
    default:
      return answer satisfies never
  }
}

function shown(
  proposed: Proposed,
  callId: string,
  args: CallPart['arguments'],
  presented: Presented,
): { part: CallPart; result: ToolResult } {
  // A made-up name goes back to the provider in the history, where it has to be a name that it takes.
  const name = proposed.projectedName
  const projectedName = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/.test(name) && !isInherited(name) ? name : 'unknown_tool'
  const replay = proposed.replay === undefined ? {} : { replay: proposed.replay }
  return {
    part: { kind: 'call', callId, projectedName, arguments: args, ...replay },
    result: { callId, projectedName, presented },
  }
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? `${fault.name}: ${fault.message}`.slice(0, 500) : 'a fault without a message'
}
