import { type SecretRule, secretRules } from './secret-rules.ts'

/**
 * What to do with a place where a secret may begin. Answers where the secret ends, `NONE` where there is none, or `STOP`
 * when no further place is wanted.
 */
export type Visit = (rule: SecretRule, at: number) => number
export const NONE = 0
export const STOP = -1

// Sixteen in a row are rare in what people write, and every credential that begins with a fixed text has them.
const WORD = 16
// Whatever is longer is data in base 64, and is searched no further.
const LONGEST = 8192
const LETTER = 1
const JOINING = 2
/** By byte: 0 ends a word, LETTER is a letter or digit, JOINING is one of `_ - + /`. */
const kind = new Uint8Array(256)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789') kind[c.charCodeAt(0)] = LETTER
for (const c of '_-+/') kind[c.charCodeAt(0)] = JOINING

const [BACKSLASH, PERCENT, AT, SLASH, COLON, EQUALS, GREATER, SMALL_U] = [
  0x5c, 0x25, 0x40, 0x2f, 0x3a, 0x3d, 0x3e, 0x75,
]

interface Anchored {
  readonly text: string
  readonly rule: SecretRule
}

/** Begins of words by their first three characters; the table of the first two keeps most words from being looked up. */
const starts = new Map<number, Anchored[]>()
const firstTwo = new Uint8Array(1 << 14)
/** What stands before words, by its last character. */
const befores = new Map<number, Anchored[]>()
const anywhere: Anchored[] = []
let assignment: SecretRule | undefined
let userinfo: SecretRule | undefined

for (const rule of secretRules) {
  const { anchor } = rule
  if (anchor.at === 'assignment') assignment = rule
  else if (anchor.at === 'userinfo') userinfo = rule
  else {
    for (const text of anchor.texts) {
      if (anchor.at === 'anywhere') anywhere.push({ text, rule })
      else if (anchor.at === 'before') listed(befores, text.charCodeAt(text.length - 1)).push({ text, rule })
      else {
        firstTwo[pair(text.charCodeAt(0), text.charCodeAt(1))] = 1
        listed(starts, triple(text.charCodeAt(0), text.charCodeAt(1), text.charCodeAt(2))).push({ text, rule })
      }
    }
  }
}
const landmarks = new RegExp(anywhere.map(({ text }) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g')

/**
 * Visits every place of a text where a secret may begin. `bytes` has one byte for each character of `text`. Takes time
 * in proportion to the length; on ordinary text it looks at few more than every sixteenth byte.
 */
export function visitAnchors(bytes: Uint8Array, text: string, visit: Visit): void {
  if (visitWords(bytes, text, visit) === STOP) return
  if (visitLandmarks(text, visit) === STOP) return
  visitUserinfo(bytes, visit)
}

function visitWords(bytes: Uint8Array, text: string, visit: Visit): number {
  const length = bytes.length
  let floor = 0
  for (let at = WORD - 1; at < length;) {
    if (kind[bytes[at]!] === 0) {
      floor = at + 1
      at += WORD
      continue
    }
    let from = at
    while (from > floor && kind[bytes[from - 1]!] !== 0) from--
    let to = at + 1
    while (to < length && kind[bytes[to]!] !== 0) to++
    floor = to + 1
    at = to + WORD
    if (to - from >= WORD && visitWord(bytes, text, from, to, visit) === STOP) return STOP
  }
  return NONE
}

function visitWord(bytes: Uint8Array, text: string, from: number, to: number, visit: Visit): number {
  if (from > 0) {
    for (const { text: anchor, rule } of befores.get(bytes[from - 1]!) ?? []) {
      if (text.endsWith(anchor, from) && visit(rule, from - anchor.length) === STOP) return STOP
    }
    const named = nameBefore(bytes, from)
    if (named >= 0 && assignment !== undefined && visit(assignment, named) === STOP) return STOP
  }
  if (visitBegin(bytes, text, from, from, visit) === STOP) return STOP
  // Where an escape stands before the word, its last characters look like the first ones of the word.
  let escaped = 0
  if (bytes[from - 1] === PERCENT) escaped = from + 2
  else if (bytes[from - 1] === BACKSLASH) escaped = bytes[from] === SMALL_U ? from + 5 : from + 1
  if (escaped > 0 && visitBegin(bytes, text, escaped, escaped, visit) === STOP) return STOP
  const end = Math.min(to, from + LONGEST)
  for (let at = from + 1; at < end; at++) {
    if (kind[bytes[at - 1]!] === JOINING && visitBegin(bytes, text, at, from, visit) === STOP) return STOP
  }
  return NONE
}

/** Tries the anchors that a word may begin with at one place of the word that really begins at `from`. */
function visitBegin(bytes: Uint8Array, text: string, first: number, from: number, visit: Visit): number {
  // What stands behind a secret begins anew: once the secret is masked, it does.
  for (let at = first, end = first; at + 2 < bytes.length; at = end) {
    if (firstTwo[pair(bytes[at]!, bytes[at + 1]!)] === 0) return NONE
    for (const { text: anchor, rule } of starts.get(triple(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)) ?? []) {
      if ((rule.alone === true && at !== from) || !text.startsWith(anchor, at)) continue
      end = visit(rule, at)
      if (end === STOP) return STOP
      if (end > at) break
    }
    if (end <= at) return NONE
  }
  return NONE
}

/** Index of the name to which the word at `from` is assigned, if it ends like the name of a secret; else -1. */
function nameBefore(bytes: Uint8Array, from: number): number {
  let at = beforeQuiet(bytes, from - 1)
  if (bytes[at] === GREATER && bytes[at - 1] === EQUALS) at--
  if (bytes[at] !== COLON && bytes[at] !== EQUALS) return -1
  if (bytes[at] === EQUALS && bytes[at - 1] === COLON) at--
  const end = beforeQuiet(bytes, at - 1)
  if (end < 2 || !SECRET_ENDINGS.has(triple(bytes[end - 2]! | 0x20, bytes[end - 1]! | 0x20, bytes[end]! | 0x20)))
    return -1
  let begin = end
  while (begin > 0 && end - begin < 64 && isNameByte(bytes[begin - 1]!)) begin--
  return begin
}

const SECRET_ENDINGS = new Set(
  ['key', 'ret', 'ken', 'ord', 'swd', 'pwd', 'ase', 'ial', 'als'].map((ending) =>
    triple(ending.charCodeAt(0), ending.charCodeAt(1), ending.charCodeAt(2)),
  ),
)

// Quotes, backslashes and white space, as JSON, YAML, shells and JSON inside JSON put them around a value.
function beforeQuiet(bytes: Uint8Array, from: number): number {
  let at = from
  while (at >= 0 && from - at < 8) {
    const byte = bytes[at]!
    if (byte > 0x20 && byte !== 0x22 && byte !== 0x27 && byte !== 0x60 && byte !== BACKSLASH) break
    at--
  }
  return at
}

function isNameByte(byte: number): boolean {
  return kind[byte] === LETTER || byte === 0x5f || byte === 0x2d || byte === 0x2e
}

function visitLandmarks(text: string, visit: Visit): number {
  landmarks.lastIndex = 0
  for (let found = landmarks.exec(text); found !== null; found = landmarks.exec(text)) {
    const { rule } = anywhere.find(({ text: anchor }) => anchor === found![0])!
    if (visit(rule, found.index) === STOP) {
      landmarks.lastIndex = 0
      return STOP
    }
  }
  return NONE
}

function visitUserinfo(bytes: Uint8Array, visit: Visit): void {
  if (userinfo === undefined) return
  for (let at = bytes.indexOf(AT); at !== -1; at = bytes.indexOf(AT, at + 1)) {
    const begin = schemeBefore(bytes, at)
    if (begin >= 0 && visit(userinfo, begin) === STOP) return
  }
}

/** Index of the `://` that opens the authority in which the `@` stands, if there is also a colon between; else -1. */
function schemeBefore(bytes: Uint8Array, at: number): number {
  let colon = false
  for (let n = at - 1; n > 1 && at - n < 390; n--) {
    const byte = bytes[n]!
    if (byte === COLON) colon = true
    else if (byte === SLASH) return colon && bytes[n - 1] === SLASH && bytes[n - 2] === COLON ? n - 2 : -1
    else if (byte <= 0x20 || byte === AT || byte === 0x22 || byte === 0x27 || byte === 0x3c || byte === GREATER)
      return -1
  }
  return -1
}

function pair(first: number, second: number): number {
  return ((first & 127) << 7) | (second & 127)
}
function triple(first: number, second: number, third: number): number {
  return (first << 16) | (second << 8) | third
}
function listed(map: Map<number, Anchored[]>, key: number): Anchored[] {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}
