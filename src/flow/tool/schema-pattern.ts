import { RE2JS } from 're2js'

export interface Pattern {
  test(text: string): boolean
  toString(): string
}

/**
 * A schema's pattern on an engine whose time is linear in the text. `spend` is told of each text before it is searched.
 * Throws where the pattern is no ECMAScript pattern, or needs what no linear engine has (look-around, back-references).
 */
export function linearPattern(source: string, flags: string, spend: (characters: number) => void): Pattern {
  checkIsEcmaScript(source)
  // The engine would read `\k` as a plain k.
  if (/(?:^|[^\\])(?:\\\\)*\\k/.test(source)) throw new SyntaxError('a back-reference')
  const engine = RE2JS.compile(RE2JS.translateRegExp(source))
  return {
    test: (text) => {
      spend(text.length)
      return engine.test(text)
    },
    // The validator keeps one pattern for each text form, so that two patterns must never share one.
    toString: () => `/${source}/${flags}`,
  }
}

// The engine's own syntax has more than JSON Schema's, with other meanings (`\A`, `[[:alpha:]]`): those are refused here.
function checkIsEcmaScript(source: string): void {
  if (isPattern(source, 'u')) return
  // Many schemas escape more than Unicode mode allows, such as `\-`.
  if (!isPattern(source, '') || /\\[AaEQzZCG]|\[\[:|\(\?[a-zA-Z]/.test(source)) {
    throw new SyntaxError('not a pattern of ECMAScript')
  }
}

function isPattern(source: string, flags: string): boolean {
  try {
    void RegExp(source, flags)
    return true
  } catch {
    return false
  }
}
