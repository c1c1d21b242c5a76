import { hasHidden } from '../../tool/visible.ts'

/** How a part of a text was kept from the eyes of a person who reads it where such texts are shown. */
export const veils = [
  'tag-characters',
  'zero-width-bits',
  'hidden-characters',
  'bidi-controls',
  'terminal-escapes',
  'html-comment',
  'hidden-markup',
  'encoded',
  'padding',
] as const
export type Veil = (typeof veils)[number]

/** A text that stood hidden in another, as a reader of raw characters would get it. */
export interface Veiled {
  readonly veil: Veil
  readonly text: string
}

export interface Unveiled {
  /** The text as a person reads it: without hidden characters, look-alikes turned into the letters that they look like. */
  readonly plain: string
  readonly veiled: readonly Veiled[]
  /** A word mixes Latin letters with ones of another script that look like them. */
  readonly mixed: boolean
}

/** Characters of a veiled part that are read, and parts that are. */
const LENGTH = 4_000
const PARTS = 64

/** Takes a text apart into what is seen and what is not. Linear in its length. */
export function unveil(text: string): Unveiled {
  const veiled: Veiled[] = []
  const add = (veil: Veil, part: string): void => {
    if (veiled.length < PARTS) veiled.push({ veil, text: part.slice(0, LENGTH) })
  }
  let plain = text
  if (/[^\t\n\r\x20-\x7e]/.test(plain)) plain = withoutHidden(plain, add)
  const mixed = /[A-Za-z][Ͱ-ӿ]|[Ͱ-ӿ][A-Za-z]/.test(plain) && mixedWord(plain)
  plain = latin(plain.normalize('NFKC'))
  readMarkup(plain, add)
  readPadding(plain, add)
  for (const decoded of decodedIn(plain)) add('encoded', decoded)
  return { plain, veiled, mixed }
}

function withoutHidden(text: string, add: (veil: Veil, part: string) => void): string {
  const tags = [...text.matchAll(/[\u{e0020}-\u{e007e}]+/gu)]
    .map(([run]) => Array.from(run, (one) => String.fromCodePoint(one.codePointAt(0)! - 0xe0000)).join(''))
    // The flags of England, Scotland and Wales are spelled with tags.
    .filter((run) => !/^gb(?:eng|sct|wls)$/.test(run))
  if (tags.length > 0) add('tag-characters', tags.join(' '))
  const bits = text.match(/(?:\u200b|\u200c|\u200d|\u2060|\ufeff){16,}/)
  if (bits !== null) add('zero-width-bits', fromBits(bits[0]))
  const selectors = text.match(/[\u{e0100}-\u{e01ef}]{4,}/u)
  if (selectors !== null) {
    add(
      'hidden-characters',
      Array.from(selectors[0], (one) => String.fromCharCode(one.codePointAt(0)! - 0xe0100 + 16)).join(''),
    )
  }
  if (/[\u202a-\u202e\u2066-\u2069]/.test(text)) add('bidi-controls', '')
  const escape = /\x1b\[/.test(text) ? /\x1b\[8m([^\x1b]{0,2000})/.exec(text) : null
  if (escape !== null) add('terminal-escapes', escape[1]!)
  // Joiners belong to emoji and to several scripts; between Latin letters none has a meaning.
  if (/[A-Za-z0-9.,;:] ?[\u200b-\u200d\u2060-\u2064\u00ad]+[A-Za-z0-9\u200b-\u202e]|[\u200b\u2060]{2}/.test(text)) {
    add('hidden-characters', '')
  }
  return hasHidden(text) ? text.replace(/\x1b\[[0-9;]*[a-z]/gi, '').replace(INVISIBLE, '') : text
}

const INVISIBLE =
  /\u00ad|[\u200b-\u200f]|[\u202a-\u202e]|[\u2060-\u2064]|[\u2066-\u2069]|\ufeff|[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/gu

/** Two zero-width characters as 0 and 1, eight to a letter: the usual way to write text in them. */
function fromBits(run: string): string {
  const kinds = [...new Set(run)].sort()
  if (kinds.length < 2) return ''
  let text = ''
  for (let at = 0; at + 8 <= run.length; at += 8) {
    const bits = Array.from(run.slice(at, at + 8), (one) => (one === kinds[0] ? '0' : '1')).join('')
    text += String.fromCharCode(Number.parseInt(bits, 2))
  }
  return text
}

const COMMENT = /<!--([^]{0,4000}?)-->/g
const UNSEEN =
  /<(?:span|div|p|font|td|a|li|section|small|label)\b[^>]{0,300}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em)?\b|opacity\s*:\s*0(?![.\d])|color\s*:\s*(?:#f{3,6}\b|white|transparent)|\bhidden\b|left\s*:\s*-\d{3,})[^>]{0,300}>([^]{0,2000}?)<\//gi

function readMarkup(text: string, add: (veil: Veil, part: string) => void): void {
  if (!text.includes('<')) return
  for (const [, inside] of text.matchAll(COMMENT)) add('html-comment', inside!)
  for (const [, inside] of text.matchAll(UNSEEN)) add('hidden-markup', inside!)
}

/** What stands behind so much empty space that it is out of the window of whoever reads the beginning. */
function readPadding(text: string, add: (veil: Veil, part: string) => void): void {
  const gap = /\S(?:[ \t\u00a0]{80,}|(?:[ \t]*\r?\n){15,})[ \t\r\n]*(?=\S)/g.exec(text)
  if (gap !== null) add('padding', text.slice(gap.index + gap[0].length))
}

const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![A-Za-z0-9+/_-])/g
const HEX = /(?<![0-9a-f])(?:(?:\\x|%|0x)?[0-9a-f]{2}[ ,]?){12,2000}(?![0-9a-f])/gi

/** Sentences and commands that stand in the text as base 64 or in hexadecimal digits. What decodes to no text is none. */
function* decodedIn(text: string): Generator<string> {
  for (const [run] of text.matchAll(BASE64)) {
    if (!/[a-z]/.test(run) || !/[A-Z]/.test(run)) continue
    const decoded = Buffer.from(run, 'base64').toString('utf8')
    if (readable(decoded)) yield decoded
  }
  for (const [run] of text.matchAll(HEX)) {
    const decoded = Buffer.from(run.replace(/\\x|%|0x|[ ,]/gi, ''), 'hex').toString('utf8')
    if (readable(decoded)) yield decoded
  }
}

/** Printable ASCII with blanks between words: random bytes are that once in many millions. */
function readable(text: string): boolean {
  return text.length >= 12 && /^[\t\n\r\x20-\x7e]+$/.test(text) && /[a-z]{2,} \S/i.test(text)
}

function mixedWord(text: string): boolean {
  return /(?<![\p{L}\d_])(?=[\p{L}_-]{0,40}[A-Za-z])(?=[\p{L}_-]{0,40}[аеорсухіјѕԁɡһӏАВЕКМНОРСТХαορνικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ])[\p{L}_-]{3,60}/u.test(
    text,
  )
}

const LOOKALIKE: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ј: 'j',
  ѕ: 's',
  ԁ: 'd',
  ɡ: 'g',
  һ: 'h',
  ӏ: 'l',
  А: 'A',
  В: 'B',
  Е: 'E',
  К: 'K',
  М: 'M',
  Н: 'H',
  О: 'O',
  Р: 'P',
  С: 'C',
  Т: 'T',
  Х: 'X',
  І: 'I',
  Ј: 'J',
  Ѕ: 'S',
  α: 'a',
  ο: 'o',
  ρ: 'p',
  ν: 'v',
  ι: 'i',
  κ: 'k',
  Α: 'A',
  Β: 'B',
  Ε: 'E',
  Ζ: 'Z',
  Η: 'H',
  Ι: 'I',
  Κ: 'K',
  Μ: 'M',
  Ν: 'N',
  Ο: 'O',
  Ρ: 'P',
  Τ: 'T',
  Υ: 'Y',
  Χ: 'X',
}

/** Cyrillic and Greek letters as the Latin ones that they look like. For matching only, never for what is passed on. */
export function latin(text: string): string {
  return /[Ͱ-ӿԀ-ԯɡ]/.test(text) ? text.replace(/[Ͱ-ԯɡ]/g, (one) => LOOKALIKE[one] ?? one) : text
}
