import { concepts } from './concepts.ts'
import { stem } from './stem.ts'

/** What else a word may stand for, by stem; each with a weight from 0 to 1. */
export interface Lexicon {
  readonly near: ReadonlyMap<string, readonly string[]>
  /** Phrases of two or three words, stems joined by a space, and what they stand for. */
  readonly phrases: ReadonlyMap<string, readonly string[]>
  /** Words that a phrase begins with. */
  readonly openings: ReadonlySet<string>
}

let read: Lexicon | undefined
let plain: Set<string> | undefined

/**
 * The lexicon, made when it is first asked for. In a line of `concepts` all words before the bar stand for each other; what
 * comes after it stands for those, and is not found by them. Words of a phrase are joined by `_`.
 */
export function lexicon(): Lexicon {
  return (read ??= make())
}

/** Every single word of the lexicon and its plural. */
export function vocabulary(): ReadonlySet<string> {
  if (plain !== undefined) return plain
  plain = new Set<string>()
  for (const word of concepts.split(/[\s|]+/)) {
    if (word.length < 3 || word.includes('_')) continue
    plain.add(word)
    plain.add(`${word}s`)
  }
  return plain
}

function make(): Lexicon {
  const near = new Map<string, Set<string>>()
  const phrases = new Map<string, Set<string>>()
  const add = (from: string, to: readonly string[]): void => {
    const key = from.split('_').map(stem).join(' ')
    const into = from.includes('_') ? phrases : near
    const known = into.get(key) ?? new Set()
    into.set(key, known)
    for (const word of to) for (const part of word.split('_')) if (stem(part) !== key) known.add(stem(part))
  }
  for (const line of concepts.split('\n')) {
    const [same = '', cues = ''] = line.split('|')
    const heads = same.split(' ').filter(Boolean)
    for (const head of heads) {
      add(
        head,
        heads.filter((other) => other !== head),
      )
    }
    for (const cue of cues.split(' ').filter(Boolean)) add(cue, heads)
  }
  const lists = (from: Map<string, Set<string>>): Map<string, readonly string[]> =>
    new Map([...from].map(([key, found]) => [key, [...found]]))
  const openings = new Set([...phrases.keys()].map((phrase) => phrase.slice(0, phrase.indexOf(' '))))
  return { near: lists(near), phrases: lists(phrases), openings }
}
