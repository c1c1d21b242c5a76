import { type Cue, type Reading, anchor, holds, mention, praises, rules } from './cues.ts'
import { type Veil, unveil } from './unveil.ts'

/** One place in a text where orders to a model are suspected. */
export interface Suspicion {
  /** 1 and more is a finding; below, a person may still like to know. */
  readonly score: number
  readonly cues: readonly Cue[]
  /** Set where the place was hidden from people. */
  readonly veil?: Veil
  /** The place, shortened. */
  readonly text: string
}

/** From here on a text is reported. */
export const SUSPECT = 1

/** Characters of one text that are read; sentences that are read together, and how long one may be. */
const READ = 200_000
const TOGETHER = 3
const SENTENCE = 400
const SHOWN = 200
/** What orders count that are talked about. */
const MENTIONED = 0.5
/** A part that somebody hid counts as half a verdict before a word of it is read, and letters from bits or tags as a whole. */
const HIDDEN: Readonly<Record<Veil, number>> = {
  'tag-characters': 1,
  'zero-width-bits': 1,
  'hidden-characters': 1,
  'bidi-controls': 1,
  'terminal-escapes': 0.6,
  'html-comment': 0.35,
  'hidden-markup': 0.5,
  encoded: 0.7,
  padding: 0.5,
}

/** The most suspect place of a text. Undefined where there is no cue at all. */
export function readText(text: string, reading: Reading): Suspicion | undefined {
  const { plain, veiled, mixed } = unveil(text.slice(0, READ))
  let worst = readPlain(plain, reading)
  if (mixed && worst !== undefined) worst = { ...worst, score: worst.score + 0.5 }
  for (const { veil, text: part } of veiled) {
    const inside = readPlain(part, reading)
    const score = HIDDEN[veil] + (inside?.score ?? 0)
    // A comment or an encoded value without orders is ordinary; characters that nobody sees are not.
    if (inside === undefined && HIDDEN[veil] < 1) continue
    if (score > (worst?.score ?? 0)) worst = { score, cues: inside?.cues ?? [], veil, text: part.slice(0, SHOWN) }
  }
  return worst
}

function readPlain(text: string, reading: Reading): Suspicion | undefined {
  let worst: Suspicion | undefined
  for (const part of windows(text)) {
    if (!anchor.test(part)) continue
    const found: Cue[] = []
    let score = 0
    for (const rule of rules) {
      if (!holds(rule, part)) continue
      found.push(rule.cue)
      score += rule.weight[reading]
    }
    if (reading === 'definition' && score > 0 && mention.test(part)) score *= MENTIONED
    if (score > (worst?.score ?? 0)) worst = { score, cues: found, text: part.slice(0, SHOWN) }
  }
  const praised = reading === 'definition' ? praises(text.slice(0, READ)) : 0
  const selling = praised >= 3 ? 1 : praised * 0.3
  if (selling > (worst?.score ?? 0)) worst = { score: selling, cues: ['advertises'], text: text.slice(0, SHOWN) }
  return worst
}

/** Sentences, each together with the next ones: orders are seldom one sentence, and far-off words say nothing about each other. */
function* windows(text: string): Generator<string> {
  const sentences = text
    .split(/(?<=[.!?])\s+(?=\S)|\n{2,}/)
    .flatMap((one) => (one.length <= SENTENCE ? [one] : chunks(one)))
    .filter((one) => one.trim() !== '')
  if (sentences.length <= TOGETHER) {
    if (sentences.length > 0) yield sentences.join('\n')
    return
  }
  for (let at = 0; at + TOGETHER <= sentences.length; at++) yield sentences.slice(at, at + TOGETHER).join('\n')
}

function chunks(text: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += SENTENCE - 100) parts.push(text.slice(at, at + SENTENCE))
  return parts
}
