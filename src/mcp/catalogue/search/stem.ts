/** Endings, longest first, with what stands in their place and how much of a word has to be left. */
const ENDINGS: readonly (readonly [ending: string, put: string, left: number])[] = [
  ['ization', '', 4],
  ['isation', '', 4],
  ['ational', '', 4],
  ['ifications', 'if', 3],
  ['ification', 'if', 3],
  ['fulness', '', 4],
  ['ousness', '', 4],
  ['iveness', '', 4],
  ['ations', '', 4],
  ['ation', '', 4],
  ['ating', '', 4],
  ['ators', '', 4],
  ['ator', '', 4],
  ['ated', '', 4],
  ['ates', '', 4],
  ['ate', '', 4],
  ['ments', '', 4],
  ['ment', '', 4],
  ['izing', '', 4],
  ['ising', '', 5],
  ['izers', '', 4],
  ['izer', '', 4],
  ['ized', '', 4],
  ['izes', '', 4],
  ['ize', '', 4],
  ['ise', '', 5],
  ['ities', '', 4],
  ['ity', '', 4],
  ['ically', '', 4],
  ['ical', '', 4],
  ['ness', '', 4],
  ['ions', '', 4],
  ['ion', '', 4],
  ['ings', '', 3],
  ['ing', '', 3],
  ['ies', 'y', 2],
  ['ied', 'y', 2],
  ['ers', '', 4],
  ['er', '', 4],
  ['ors', '', 5],
  ['or', '', 5],
  ['edly', '', 4],
  ['ed', '', 3],
  ['ly', '', 4],
  ['al', '', 5],
  ['ic', '', 5],
  ['xes', 'x', 2],
  ['ches', 'ch', 2],
  ['shes', 'sh', 2],
  ['sses', 'ss', 2],
]

const known = new Map<string, string>()
/** Stems that are kept; texts of strangers may hold any number of words. */
const KEPT = 50_000

/**
 * What the forms of an English word have in common (list, lists, listed, listing). It need not be a word; it only has to be
 * equal for words that belong together, since both sides of a comparison go through it.
 */
export function stem(word: string): string {
  const before = known.get(word)
  if (before !== undefined) return before
  const made = cut(word)
  if (known.size >= KEPT) known.clear()
  known.set(word, made)
  return made
}

function cut(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  let stemmed = word
  for (const [ending, put, left] of ENDINGS) {
    if (stemmed.length - ending.length < left || !stemmed.endsWith(ending)) continue
    stemmed = stemmed.slice(0, -ending.length) + put
    // stopp, gett, plann: the letter was doubled for the sake of the ending.
    if (/([bdgklmnprt])\1$/.test(stemmed) && stemmed.length > 3 && /^(?:ing|ings|ed|er|ers)$/.test(ending)) {
      if (!/(?:ll|ss|dd)$/.test(stemmed)) stemmed = stemmed.slice(0, -1)
    }
    break
  }
  if (/[^su]s$/.test(stemmed) && stemmed.length > 3) stemmed = stemmed.slice(0, -1)
  if (stemmed.length > 4 && stemmed.endsWith('e')) stemmed = stemmed.slice(0, -1)
  if (stemmed.length > 3 && stemmed.endsWith('y')) stemmed = `${stemmed.slice(0, -1)}i`
  // `list` and `listing` may end alike, `creat` of `create` and `creation` as well.
  return stemmed.length > 5 && stemmed.endsWith('at') ? stemmed.slice(0, -2) : stemmed
}
