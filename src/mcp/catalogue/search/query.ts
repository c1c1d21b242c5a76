import { actionOf } from './action.ts'
import { lexicon } from './lexicon.ts'
import { cuesOf } from './cues.ts'
import { stem } from './stem.ts'
import { isEmpty, words } from './words.ts'

/** One word of a request, and what else may stand for it. The first member is the word itself. */
export interface Group {
  readonly members: readonly { readonly term: string; readonly weight: number }[]
  readonly weight: number
}

/** A request as it is looked up. */
export interface Asked {
  readonly groups: readonly Group[]
  /** What it says is to be done, of `actionOf`. */
  readonly action: number
}

/** Words of asking, which say nothing of what is asked for. */
const ASKING = new Set(
  (
    'please want need like could help give tell let make sure know thing things something anything everything someone now ' +
    'got get going go use using us thanks thank hey hi ok okay right really quick quickly maybe actually still already again ' +
    'way lot bit kind sort'
  )
    .split(' ')
    .map(stem),
)

export const weights = { near: 0.45, phrase: 0.75, cue: 0.5, asking: 0.35 } as const

/** Terms of one request that are looked at; a longer one is cut, so that a pasted page does not hold up the others. */
const MOST = 48

const NONE: readonly string[] = []

/** What is looked up for a request. `occurs` says whether a term is in the index at all. */
export function groupsOf(request: string, occurs: (term: string) => boolean): Asked {
  const { near, phrases, openings } = lexicon()
  const { text, cues } = cuesOf(request.slice(0, 4_000))
  const all = words(text).slice(0, 200)
  const stems = all.map(stem)
  const acting: string[] = []
  const groups = new Map<string, { members: Map<string, number>; weight: number }>()
  const group = (term: string, weight: number): Map<string, number> => {
    const known = groups.get(term)
    if (known !== undefined) {
      // Twice is more than once, and not twice as much.
      known.weight = Math.max(known.weight, weight) * 1.15
      return known.members
    }
    const made = { members: new Map([[term, 1]]), weight }
    if (groups.size < MOST) groups.set(term, made)
    return made.members
  }
  const offer = (members: Map<string, number>, term: string, weight: number): void => {
    if ((members.get(term) ?? 0) < weight) members.set(term, weight)
  }
  for (let at = 0; at < stems.length; at++) {
    for (const length of openings.has(stems[at]!) ? [3, 2] : []) {
      if (at + length > stems.length) continue
      const stands = phrases.get(stems.slice(at, at + length).join(' '))
      if (stands === undefined) continue
      const members = group(stems.slice(at, at + length).join(' '), weights.phrase)
      for (const term of stands) if (occurs(term)) offer(members, term, 1)
      acting.push(...stands)
    }
    const term = stems[at]!
    acting.push(term)
    if (isEmpty(all[at]!)) continue
    const members = group(term, ASKING.has(term) ? weights.asking : 1)
    for (const other of near.get(term) ?? NONE) if (occurs(other)) offer(members, other, weights.near)
  }
  for (const cue of cues) {
    const members = group(`cue ${cue[0]}`, weights.cue)
    for (const word of cue) if (occurs(stem(word))) offer(members, stem(word), 1)
  }
  const listed = [...groups.values()]
    .map(({ members, weight }) => ({
      weight,
      members: [...members].map(([term, of]) => ({ term, weight: of })),
    }))
    .filter(({ members }) => members.length > 1 || occurs(members[0]!.term) || !members[0]!.term.includes(' '))
  return { groups: listed, action: actionOf(acting) }
}
