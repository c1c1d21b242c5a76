// Controls, formatting and bidirectional characters, surrogates, private and unassigned ones, line separators, variation
// selectors, fillers and tags, and every space but the plain one: a person does not see them, or sees something else.
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/** The text with everything that a person would not see written out, as `\u{200b}`. Tabs and line ends stay. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

export function hasHidden(text: string): boolean {
  return text.search(HIDDEN) !== -1
}
