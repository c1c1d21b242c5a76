import { visible } from '../tool/visible.ts'

/**
 * Characters that a reader does not see, or that change what he sees: controls, line and paragraph separators, marks of
 * direction (the "Trojan Source" class), zero-width ones, fillers, tags. The two joiners stay: Persian and Hindi need them.
 */
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/u

/**
 * Why a text may not name a resource: a clause for a person, or undefined where every reader takes it for the same.
 * It holds for names of all kinds; paths and URLs have rules of their own besides.
 */
export function notPlain(text: string, maxBytes: number): string | undefined {
  if (!text.isWellFormed()) return 'it is not well-formed Unicode'
  if (text.includes('\u0000')) return 'it holds a NUL character'
  if (UNSEEN.test(text)) return 'it holds a control character or one that is not visible'
  if (text !== text.trim()) return 'it begins or ends with a space, which some readers cut off'
  // An option of a command line in the place of a name (CVE-2025-68144).
  if (text.startsWith('-')) return 'it begins with a dash and could be read as an option'
  if (Buffer.byteLength(text) > maxBytes) return `it is longer than ${maxBytes} bytes`
  return undefined
}

/** A foreign text for a fact: cut, on one line, and with everything that a terminal would not show written as an escape. */
export function shown(text: string, limit = 160): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text
  return visible(cut).replaceAll(/[\t\n]/g, (blank) => (blank === '\t' ? '\\t' : '\\n'))
}
