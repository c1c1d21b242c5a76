import type { Pieces } from './pieces.ts'

/**
 * What a reader should know about the text of a result before believing it. Each is a label and no verdict: half of all
 * injected requests read like any other sentence, and a manual on security reads like an attack.
 */
export const signs = [
  'control-characters',
  'zero-width-characters',
  'bidi-controls',
  'tag-characters',
  'variation-selectors',
  'instruction-phrases',
  'role-markers',
  'remote-images',
  'long-queries',
  'orders-to-a-model',
] as const
export type Sign = (typeof signs)[number]

interface Pattern {
  readonly sign: Sign
  readonly pattern: RegExp
}

// The text is JSON, so that a control character stands there as an escape: `\u001b`, not after an odd number of others.
const control = /(?<!\\)(?:\\\\)*\\u00(?:0[0-7bBeEfF]|1[0-9a-fA-F])|\x7f/

// Invisible characters by their UTF-8, one character a byte. Joiners are ordinary in emoji and in some scripts, so only
// those next to an ASCII letter count, or several in a row; and the flags of England, Scotland and Wales are tags by right.
const invisible: readonly Pattern[] = [
  {
    sign: 'zero-width-characters',
    pattern:
      /\xe2\x80\x8b|\xe2\x81[\xa0-\xa4]|.\xef\xbb\xbf|\xe1\xa0\x8e|[A-Za-z0-9]\xe2\x80[\x8c\x8d]|\xe2\x80[\x8c\x8d][A-Za-z0-9]|(?:\xe2\x80[\x8c\x8d]){2}/,
  },
  { sign: 'bidi-controls', pattern: /\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]/ },
  {
    sign: 'tag-characters',
    pattern: /(?<!\xf0\x9f\x8f\xb4)(?<!\xf3\xa0[\x80\x81][\x80-\xbf])\xf3\xa0[\x80\x81]/,
  },
  {
    sign: 'variation-selectors',
    pattern: /\xf3\xa0[\x84-\x87]|(?:\xef\xb8[\x80-\x8f]){2}/,
  },
]

// A stem is found fast and everywhere; what stands around it is then read once. Several searches, since one for all of them
// takes longer than they do together.
const controlStems: readonly RegExp[] = [/\\u00[01]/, /\x7f/]
const invisibleStems: readonly RegExp[] = [
  /\xe2(?:\x80[\x8b-\x8d\xaa-\xae]|\x81[\xa0-\xa9])/,
  /\xef(?:\xbb\xbf|\xb8[\x80-\x8f])/,
  /\xf3\xa0/,
  /\xe1\xa0\x8e/,
]
const stems: readonly RegExp[] = [/instruction|\]\(http|<(?:important|img|\|im_)/gi, /system.prompt/gi]
const BEFORE = 80
const AFTER = 400
// So many mentions without a phrase are no accident of prose; reading on would only cost time.
const MENTIONS = 2_000

const orders =
  /\b(?:ignore|disregard|forget|override|bypass|discard)\b[^.!?]{0,60}instructions?\b|\b(?:hidden|secret|updated|new|real)\s+(?:system\s+)?instructions?\s*:|instructions?\s+(?:to|for)\s+(?:the\s+|any\s+)?(?:ai|assistant|agent|model|llm)\b/i
const prying = /\b(?:reveal|print|repeat|show|output|leak|disclose|ignore|override|replace)\b[^.!?]{0,40}system.prompt/i
const marker = /<(?:important>|\|im_(?:start|end|sep)\|>)/iy
const htmlImage = /<img\b[^>]{0,200}?\bsrc\s*=\s*(?:\\?["'])?https?:\/\/[^\s"'>?]{1,400}\?/iy
const link = /\]\(https?:[^)\s?]{0,400}\?([^)\s]{1,96})/iy
const LONG_QUERY = 96

/** The signs in a text, in the order of the list above. */
export function signsIn({ pieces, ascii }: Pieces): readonly Sign[] {
  const found = new Set<Sign>()
  let mentions = 0
  for (const { text } of pieces) {
    if (controlStems.some((stem) => stem.test(text)) && control.test(text)) found.add('control-characters')
    if (!ascii && invisibleStems.some((stem) => stem.test(text))) {
      for (const { sign, pattern } of invisible) if (pattern.test(text)) found.add(sign)
    }
    for (const stem of stems) {
      stem.lastIndex = 0
      for (let match = stem.exec(text); match !== null; match = stem.exec(text)) {
        const at = match.index
        if (text[at] === '<') readTag(text, at, found)
        else if (text[at] === ']') readLink(text, at, found)
        else if (!found.has('instruction-phrases')) {
          const sentence = text.slice(Math.max(0, at - BEFORE), at + AFTER)
          if (++mentions > MENTIONS || orders.test(sentence) || prying.test(sentence)) found.add('instruction-phrases')
        }
      }
    }
  }
  return found.size === 0 ? NOTHING : signs.filter((sign) => found.has(sign))
}

const NOTHING: readonly Sign[] = Object.freeze([])

function readTag(text: string, at: number, found: Set<Sign>): void {
  marker.lastIndex = at
  htmlImage.lastIndex = at
  if (marker.test(text)) found.add('role-markers')
  else if (htmlImage.test(text)) found.add('remote-images')
}

function readLink(text: string, at: number, found: Set<Sign>): void {
  link.lastIndex = at
  const query = link.exec(text)?.[1]
  if (query === undefined) return
  if (query.length === LONG_QUERY) found.add('long-queries')
  if (/!\[[^\]]*$/.test(text.slice(Math.max(0, at - BEFORE), at))) found.add('remote-images')
}
