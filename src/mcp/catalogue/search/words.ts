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

/** Scripts without spaces are taken sign by sign. */
const SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
const RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu
/** `HTTPServer2` is HTTP and Server2. */
const HUMP = /\p{Lu}+(?!\p{Ll})\d*|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}]+\d*|\d+|\p{L}+/gu
const LOWER = /^(?:[a-z]+\d*|\d+)$/

/** What identifiers are taken apart into, and put together again: `DeepWiki` is deep, wiki and deepwiki. */
const LONGEST_JOINED = 24

/** The words of a text, in lower case and in order, identifiers taken apart: `listPull_requests` is list, pull, requests. */
export function words(text: string): string[] {
  const found: string[] = []
  for (const run of text.match(RUN) ?? []) {
    if (LOWER.test(run)) addWord(found, run)
    else if (run.length === 1 || SIGN.test(run)) for (const sign of run.match(RUN) ?? []) found.push(sign.toLowerCase())
    else {
      const humps = run.match(HUMP) ?? []
      for (const hump of humps) addWord(found, hump.toLowerCase())
      if (humps.length > 1 && run.length <= LONGEST_JOINED && /\p{Ll}\p{Lu}/u.test(run)) found.push(run.toLowerCase())
    }
  }
  return found
}

function addWord(found: string[], word: string): void {
  const compound = word.length > 6 ? parts(word) : undefined
  if (compound === undefined) found.push(word)
  else found.push(...compound)
}

/** What is looked up: stems of the words that carry meaning. */
export function terms(text: string): string[] {
  const found: string[] = []
  for (const word of words(text)) if (!EMPTY.has(word)) found.push(stem(word))
  return found
}

/** Neighbours written as one, since `quick-chart` and `QuickChart` are the same name. */
export function joined(text: string): string[] {
  const runs = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return runs.slice(1).flatMap((run, n) => {
    const both = `${runs[n]}${run}`
    return both.length <= LONGEST_JOINED ? [stem(both)] : []
  })
}

export function isEmpty(word: string): boolean {
  return EMPTY.has(word)
}
