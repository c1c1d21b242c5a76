import { computing } from './computing.ts'
import { world } from './world.ts'

/**
 * General words of computing, business and daily life that stand for each other, a concept a line; after the bar, what
 * people say when they mean it. Written from general knowledge, never from the requests of a benchmark: a line belongs here
 * if it would help with servers that nobody has seen yet.
 */
export const concepts = computing + world
