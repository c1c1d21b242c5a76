import type { Message, ModelEvent, ModelPort } from './port.ts'
import { profileOf } from './projection/profiles.ts'
import { type Script, type ScriptedTurn, readScript } from './script-file.ts'

export { type Script, readScript }

/**
 * A file that plays a model: for demonstrations and tests. It says so of itself, and whoever shows its words says it too.
 * Its turns are played in their order; one whose `when` does not hold of the last results is passed over. A turn without
 * a call ends the task, and so does the end of the list.
 */
export function scriptedModel(script: Script, label: string): ModelPort {
  return {
    label,
    scripted: true,
    profile: profileOf('compatible'),
    async *propose(turn, tools, signal): AsyncGenerator<ModelEvent> {
      signal.throwIfAborted()
      // Where it is in the list shows in the conversation, so that one script can play several tasks at once.
      const played = turn.messages.filter((message) => message.from === 'model').length
      const next = nth(script.turns, turn.messages, played)
      yield { kind: 'usage', inputTokens: 0, outputTokens: 0 }
      if (next === undefined) {
        yield { kind: 'finish', unified: 'stop' }
        return
      }
      if (next.say !== undefined) {
        yield { kind: 'text', text: next.say }
        yield { kind: 'part', part: { kind: 'text', text: next.say } }
      }
      const calls = next.calls ?? (next.call === undefined ? [] : [next.call])
      for (const [n, call] of calls.entries()) {
        const projectedName = tools.find((tool) => tool.exported === call.tool)?.projectedName ?? call.tool
        const id = call.id ?? `scripted_${played + 1}_${n + 1}`
        const rawArguments = call.argumentsText ?? JSON.stringify(call.arguments ?? {})
        yield { kind: 'proposal-started', id, projectedName }
        yield { kind: 'argument-fragment', id, fragment: rawArguments }
        yield { kind: 'proposal', id, projectedName, rawArguments, caller: 'model' }
      }
      yield { kind: 'finish', unified: next.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop') }
    },
  }
}

// Plays the list again from its beginning against the conversation: `when` of each turn looks at the results before it.
function nth(turns: readonly ScriptedTurn[], messages: readonly Message[], played: number): ScriptedTurn | undefined {
  const results = messages.filter((message) => message.from === 'tools')
  let at = 0
  for (let said = 0; ; said++) {
    const last = said === 0 ? undefined : results[said - 1]
    while (at < turns.length && !holds(turns[at]!, last)) at++
    if (said === played || at >= turns.length) return turns[at]
    at++
  }
}

function holds(turn: ScriptedTurn, last: Extract<Message, { from: 'tools' }> | undefined): boolean {
  if (turn.when === undefined) return true
  if (last === undefined) return false
  const { error, contains } = turn.when
  if (error !== undefined && !last.results.some(({ presented }) => presented.isError === error)) return false
  const texts = last.results.flatMap(({ presented }) => presented.blocks).map((b) => (b.kind === 'text' ? b.text : ''))
  return contains === undefined || texts.some((text) => text.includes(contains))
}
