import { visible } from '../../flow/tool/visible.ts'

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
const escapes = /\u001b\[[0-9;]*m/g
// East Asian Wide and Fullwidth (Unicode Standard Annex #11), by the scripts and blocks that matter on a terminal.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u

/** Columns that the text takes on a terminal; colours take none. */
export function widthOf(text: string): number {
  let columns = 0
  for (const { segment } of graphemes.segment(text.replaceAll(escapes, ''))) {
    if (/^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(segment)) continue
    columns += wide.test(segment) ? 2 : 1
  }
  return columns
}

/** The text in at most that many columns, with `…` where something is missing. For text without colours. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let taken = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const more = widthOf(segment)
    if (used + more > columns - 1) break
    taken += segment
    used += more
  }
  return `${taken}…`
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)))
}

/** One line on which everything can be seen: text from a server or a model must not move the cursor or hide a part of itself. */
export function plain(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}
