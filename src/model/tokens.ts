/** How a number of tokens was had. */
export type TokenMethod = 'usage' | 'o200k'

/**
 * Counts tokens of the o200k encoding: exact for models of OpenAI, an estimate for every other one. The encoding is loaded
 * when it is first wanted, and it alone: all of the package take 30 MB.
 */
export async function countTokens(): Promise<(text: string) => number> {
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base')
  // Texts of strangers may spell out special tokens; they are text like any other.
  return (text) => count(text, { disallowedSpecial: new Set() })
}
