import { actionOf } from './action.ts'
import { stem } from './stem.ts'
import { joined, terms, words } from './words.ts'

/** What is known of a tool, for looking it up. Texts are strangers' words: data to index, never instructions. */
export interface SearchDocument {
  /** `server/name`, unique in an index. */
  readonly key: string
  readonly name: string
  readonly server: string
  readonly title?: string
  /** Title and description of the server itself. */
  readonly about?: string
  readonly description: string
  readonly parameters?: readonly Parameter[]
  /** Requests that this tool answers, in the words of people. */
  readonly examples?: readonly string[]
}

export interface Parameter {
  readonly name: string
  readonly description?: string
}

/** A document as it is indexed. */
export interface Bag {
  readonly key: string
  readonly nameLength: number
  /** What its name says it does, of `actionOf`. */
  readonly action: number
  readonly terms: ReadonlyMap<string, { frequency: number; named: boolean }>
}

/** Longer texts are cut: what is stuffed with words must not win by them. Characters. */
const LONGEST = { description: 600, parameters: 1_500, about: 300, examples: 2_000 } as const

/**
 * Weight of each field, its usual length in terms, and how much a longer text counts less. The lengths are constants and not
 * the averages of what is indexed: a tool that comes or goes, or that a caller may not see, moves no other tool's score.
 */
export const fields = {
  name: { weight: 3, usual: 3, slope: 0.4 },
  server: { weight: 1.4, usual: 2, slope: 0.3 },
  about: { weight: 0.7, usual: 14, slope: 0.6 },
  lead: { weight: 0.6, usual: 10, slope: 0.3 },
  description: { weight: 1, usual: 18, slope: 0.5 },
  parameters: { weight: 0.35, usual: 24, slope: 0.7 },
  examples: { weight: 1, usual: 30, slope: 0.6 },
}

export function bagOf(document: SearchDocument): Bag {
  const found = new Map<string, { frequency: number; named: boolean }>()
  const add = (text: string, { weight, usual, slope }: (typeof fields)['name'], named = false): number => {
    const all = terms(text)
    const share = weight / (1 - slope + (slope * all.length) / usual)
    for (const term of all) {
      const known = found.get(term)
      if (known === undefined) found.set(term, { frequency: share, named })
      else {
        known.frequency += share
        known.named ||= named
      }
    }
    return all.length
  }
  const nameLength = add(document.name, fields.name, true)
  add(document.title ?? '', fields.name)
  add(document.server, fields.server)
  for (const [text, { weight }] of [
    [document.name, fields.name],
    [document.server, fields.server],
  ] as const)
    for (const term of joined(text)) if (!found.has(term)) found.set(term, { frequency: weight, named: false })
  add((document.about ?? '').slice(0, LONGEST.about), fields.about)
  const description = document.description.slice(0, LONGEST.description)
  add(/^[^.\n]{0,160}/.exec(description)?.[0] ?? '', fields.lead)
  add(description, fields.description)
  const said = (document.parameters ?? []).map(({ name, description: of }) => `${name} ${of ?? ''}`).join(' ')
  add(said.slice(0, LONGEST.parameters), fields.parameters)
  add((document.examples ?? []).join(' ').slice(0, LONGEST.examples), fields.examples)
  const action = actionOf(words(document.name).map(stem))
  return { key: document.key, nameLength: Math.max(1, nameLength), action, terms: found }
}
