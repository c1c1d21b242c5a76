import { type Verb, meantBy, namesOf, verbDefinitions, verbOf, verbs, wishOf } from '../mcp/catalogue/search/verbs.ts'
import type { Wish } from '../mcp/catalogue/search/tool-search.ts'
import { parseStrict } from '../words/strict-json.ts'
import { type Json, isJsonObject, member, textMember } from '../words/json.ts'
import type { ToolAnswer, ToolCall, ToolOffer, Toolbox } from './toolbox.ts'

/** Search over what the principal may see, as a model reads its answers. */
export interface Finder {
  /** Declarations of the tools that fit, or a word of why none does; and their exported names. */
  find(wish: Wish, signal: AbortSignal): Promise<Sought>
}

export interface Sought {
  readonly text: string
  readonly tools: readonly string[]
}

/** `deferred`: the provider is told of every tool and shows the model those that a search of ours finds. */
export type Exposing = 'all' | 'search' | 'auto' | 'deferred'

/** With `auto`: a list of more than this, as bytes / 4, is replaced by the three tools. */
const TOKENS = 10_000
const LIMITS = { bytes: 1 << 20, depth: 64 } as const

/** The tools of a toolbox, or the three that stand for them. Every call is still a call of the real tool, behind the same port. */
export function exposed(toolbox: Toolbox, finder: Finder, mode: Exposing, tokens = TOKENS): Toolbox {
  if (mode === 'all') return toolbox
  let whole: readonly ToolOffer[] | undefined
  let shown: readonly ToolOffer[] | undefined
  return {
    offers: async (signal) => {
      whole = await toolbox.offers(signal)
      if (mode === 'deferred') shown = [SEARCH, ...whole.map((offer) => ({ ...offer, deferred: true as const }))]
      else shown = mode === 'auto' && JSON.stringify(whole).length / 4 <= tokens ? whole : three
      return shown
    },
    call: async (call, signal) => {
      const verb = shown?.includes(SEARCH) === true ? verbOf(call.exported) : undefined
      if (verb === undefined) return toolbox.call(call, signal)
      const parsed = parseStrict(call.argumentsText === '' ? '{}' : call.argumentsText, LIMITS)
      if (!parsed.ok) return said(`the arguments cannot be read: ${parsed.detail}`, true)
      return doneBy(verb, parsed.value, { call, toolbox, finder, offers: whole ?? [] }, signal)
    },
  }
}

interface Doing {
  readonly call: ToolCall
  readonly toolbox: Toolbox
  readonly finder: Finder
  readonly offers: readonly ToolOffer[]
}

async function doneBy(verb: Verb, given: Json, doing: Doing, signal: AbortSignal): Promise<ToolAnswer> {
  const { call, toolbox, finder, offers } = doing
  switch (verb) {
    case 'search': {
      const wish = wishOf(given)
      if (typeof wish === 'string') return said(wish, true)
      const { text, tools } = await finder.find(wish, signal)
      return { ...said(text), tools }
    }
    case 'describe': {
      const names = namesOf(given)
      if (typeof names === 'string') return said(names, true)
      return said(names.map((name) => described(name, offers)).join('\n'))
    }
    case 'call': {
      const meant = meantBy(given)
      if (typeof meant === 'string') return said(meant, true)
      return toolbox.call({ ...call, exported: meant.name, argumentsText: JSON.stringify(meant.given) }, signal)
    }
    default:
      return verb satisfies never
  }
}

function described(name: string, offers: readonly ToolOffer[]): string {
  const offer = offers.find(({ exported }) => exported === name)
  if (offer === undefined) return `${name.slice(0, 256)}: there is no tool of that name`
  const { exported, title, description, inputSchema } = offer
  return JSON.stringify({ name: exported, ...(title === undefined ? {} : { title }), description, inputSchema })
}

function said(text: string, isError = false): ToolAnswer & { kind: 'result' } {
  return { kind: 'result', value: { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) }, isError }
}

const three: readonly ToolOffer[] = verbDefinitions.map((definition) => {
  const schema = member(definition, 'inputSchema')
  return {
    exported: textMember(definition, 'name')!,
    title: textMember(definition, 'title')!,
    description: textMember(definition, 'description')!,
    inputSchema: isJsonObject(schema) ? schema : {},
    server: 'countersign',
  }
})

const SEARCH = three.find(({ exported }) => exported === verbs.search)!
