import { isJsonObject, member, textMember, type Json, type JsonObject } from '../../words/json.ts'
import { type Ask, type AskReply, askError, askErrors } from './ask.ts'
import { elicitationFault, formFault, secretField } from './ask-form.ts'

/** How an elicitation is put: a form is meant where nothing is said. */
export function modeOf({ params }: Ask): 'form' | 'url' | undefined {
  const mode = member(params, 'mode')
  return mode === undefined || mode === 'form' ? 'form' : mode === 'url' ? 'url' : undefined
}

const declined: AskReply = { kind: 'result', value: { action: 'decline' } }

export interface AskFault {
  readonly why: string
  /** What the server is answered. */
  readonly reply: AskReply
}

/** Why an ask may not be put to anybody, whoever asks: it is malformed, or wants what no person should give that way. */
export function askFault(ask: Ask): AskFault | undefined {
  switch (ask.method) {
    case 'elicitation/create': {
      if (modeOf(ask) === 'url') {
        const why = urlFault(ask.params)
        return why === undefined ? undefined : { why, reply: declined }
      }
      const fault = malformed(formFault(ask.params))
      if (fault !== undefined) return fault
      const field = secretField(ask.params)
      return field === undefined ? undefined : { why: `the field ${field} asks for a secret`, reply: declined }
    }
    case 'sampling/createMessage':
      return malformed(samplingFault(ask.params))
    case 'roots/list':
      return undefined
    default:
      return ask.method satisfies never
  }
}

function malformed(why: string | undefined): AskFault | undefined {
  return why === undefined ? undefined : { why, reply: askError(askErrors.invalidParams, `Invalid params: ${why}`) }
}

/** Why an answer does not fit what was asked. What the schemas have narrower than the specification is taken in the wide form. */
export function answerFault(ask: Ask, value: JsonObject): string | undefined {
  switch (ask.method) {
    case 'elicitation/create':
      return elicitationFault(ask.params, value)
    case 'sampling/createMessage': {
      const content = member(value, 'content')
      const blocks = Array.isArray(content) ? (content as readonly Json[]) : [content]
      if (textMember(value, 'role') !== 'assistant') return 'its role is not assistant'
      if (textMember(value, 'model') === undefined) return 'it names no model'
      return blocks.every((block) => isJsonObject(block) && textMember(block, 'type') !== undefined)
        ? undefined
        : 'its content is not made of blocks'
    }
    case 'roots/list': {
      const roots = member(value, 'roots')
      const all =
        Array.isArray(roots) &&
        (roots as readonly Json[]).every((root) => isJsonObject(root) && textMember(root, 'uri') !== undefined)
      return all ? undefined : 'it holds no list of roots'
    }
    default:
      return ask.method satisfies never
  }
}

/** The host that a person is asked to visit, in its ASCII form, so that letters which only look alike show. */
export function hostOf(params: JsonObject): string | undefined {
  const url = textMember(params, 'url')
  return url === undefined || !URL.canParse(url) ? undefined : new URL(url).host
}

function urlFault(params: JsonObject): string | undefined {
  if (textMember(params, 'message') === undefined) return 'it has no message'
  const text = textMember(params, 'url')
  if (text === undefined || !URL.canParse(text)) return 'it has no URL that can be read'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'its URL is neither https nor http'
  if (url.username !== '' || url.password !== '') return 'its URL holds credentials'
  return undefined
}

// 2025-11-25, "Sampling", tool use: a message with results holds nothing else, and each use has its result in the next one.
function samplingFault(params: JsonObject): string | undefined {
  const messages = member(params, 'messages')
  if (!Array.isArray(messages)) return 'it has no messages'
  if (typeof member(params, 'maxTokens') !== 'number') return 'maxTokens is not a number'
  let open: string[] = []
  for (const message of messages as readonly Json[]) {
    if (!isJsonObject(message)) return 'a message is not an object'
    const content = member(message, 'content')
    const blocks = Array.isArray(content) ? (content as readonly Json[]) : content === undefined ? [] : [content]
    const results = idsOf(blocks, 'tool_result', 'toolUseId')
    if (results.length > 0 && results.length < blocks.length) return 'a message mixes tool results with other content'
    if (open.some((id) => !results.includes(id))) return 'a tool use has no result in the next message'
    if (results.some((id) => !open.includes(id))) return 'a tool result belongs to no tool use before it'
    open = member(message, 'role') === 'assistant' ? idsOf(blocks, 'tool_use', 'id') : []
  }
  return open.length > 0 ? 'a tool use has no result' : undefined
}

function idsOf(blocks: readonly (Json | undefined)[], type: string, name: string): string[] {
  return blocks.flatMap((block) =>
    isJsonObject(block) && member(block, 'type') === type ? [textMember(block, name) ?? ''] : [],
  )
}
