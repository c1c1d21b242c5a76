import type { Found } from './index.ts'
import { talkOf } from './talk.ts'

/** How sure a search is that a tool is wanted at all, and that it is this one. */
export interface Confidence {
  /** Grows with the score and shrinks with talk. Only its order means something. */
  readonly value: number
  /** Below it the answer is that nothing fits. */
  readonly floor: number
  /** By how much the first is ahead of the second, from 0 to 1. */
  readonly margin: number
  /** A word of why, where nothing fits. */
  readonly why: string | undefined
}

/** Of talk, and of what is named besides it. */
const TALK = 0.8
const NAMED = 0.5

export function confidenceOf(request: string, { hits }: Pick<Found, 'hits'>, tools: number): Confidence {
  const [first, second] = hits
  const talk = talkOf(request)
  const value = Math.log1p(first?.score ?? 0) - TALK * Math.max(0, talk) - NAMED * Math.min(0, talk)
  // Scores grow with the rarity of words, and that with the number of tools.
  const floor = 0.22 * Math.log1p(tools) - 0.1
  const margin = first === undefined ? 0 : (first.score - (second?.score ?? 0)) / first.score
  return { value, floor, margin, why: whyOf(first !== undefined, value, floor, talk) }
}

function whyOf(found: boolean, value: number, floor: number, talk: number): string | undefined {
  if (!found) return 'no word of the request occurs in any tool that you may use'
  if (value >= floor) return undefined
  return talk > 0.5
    ? 'the request reads like talk that needs no tool'
    : 'the best match shares too little with the request'
}
