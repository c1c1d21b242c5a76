import { parts } from './compound.ts'
import { stem } from './stem.ts'

/** Words that carry no meaning of their own in a description or a request. */
const EMPTY = new Set(
  (
    'a an the and or but nor so if then than that this these those there here it its they them their he she his her we us our ' +
    'you your i me my mine is are was were be been being am do does did doing done has have had having will would shall should ' +
    'can could may might must of to in on at by for from with without into onto as about over under between after before ' +
    'not no yes also just only very too such via per etc eg ie e g s t d ll re ve m any each other some what which who whom ' +
    'whose when where why how'
  ).split(' '),
)

// A run of letters and digits of one kind; `HTTPServer` is HTTP and Server; scripts without spaces are taken sign by sign.
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\p{Lu}+(?!\p{Ll})\d*|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}]+\d*|\d+/gu

/** The words of a text, in lower case and in order, identifiers taken apart: `listPull_requests` is list, pull, requests. */
export function words(text: string): string[] {
  const found: string[] = []
  for (const run of text.match(RUN) ?? []) {
    const lower = run.toLowerCase()
    const compound = lower.length > 6 ? parts(lower) : undefined
    if (compound === undefined) found.push(lower)
    else found.push(...compound)
  }
  return found
}

/** What is looked up: stems of the words that carry meaning. */
export function terms(text: string): string[] {
  const found: string[] = []
  for (const word of words(text)) if (!EMPTY.has(word)) found.push(stem(word))
  return found
}

export function isEmpty(word: string): boolean {
  return EMPTY.has(word)
}
