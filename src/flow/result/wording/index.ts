import type { JsonObject } from '../../../words/json.ts'
import { visitTexts } from '../texts.ts'
import { SUSPECT, type Suspicion, readText } from './read.ts'

/**
 * Characters of one result that are read for orders. It takes about 0.2 ms a kilobyte of prose and this happens between a
 * tool and its caller, so that of a long result the beginning is read and the end.
 */
const READ = 32_000

/** Whether a text in a result reads like orders to whatever model is given it. */
export function ordersIn(value: JsonObject): boolean {
  let left = READ
  let found = false
  visitTexts(value, (text) => {
    if (found || left <= 0) return
    const part = text.length <= left ? text : `${text.slice(0, left * 0.75)}\n\n${text.slice(-left * 0.25)}`
    left -= part.length
    found = (readText(part, 'result')?.score ?? 0) >= SUSPECT
  })
  return found
}

/** The most suspect place in a result, all of it. */
export function worstIn(value: JsonObject): Suspicion | undefined {
  let worst: Suspicion | undefined
  visitTexts(value, (text) => {
    const found = readText(text, 'result')
    if ((found?.score ?? 0) > (worst?.score ?? 0)) worst = found
  })
  return worst
}

export { SUSPECT, type Suspicion, readText } from './read.ts'
export { unveil } from './unveil.ts'
