import { vocabulary } from './lexicon.ts'

const SHORTEST = 3

/**
 * The words that an identifier without any sign between them is made of: `listcollections`, `webhook`. Undefined where it
 * is not wholly made of words of the lexicon. Does not depend on what is indexed, so that no tool changes another's terms.
 */
export function parts(run: string): readonly string[] | undefined {
  const known = vocabulary()
  if (known.has(run) || run.length > 40) return undefined
  return split(run, known, 3)
}

function split(run: string, known: ReadonlySet<string>, most: number): readonly string[] | undefined {
  if (known.has(run)) return [run]
  if (most === 1) return undefined
  for (let at = run.length - SHORTEST; at >= SHORTEST; at--) {
    const head = run.slice(0, at)
    if (!known.has(head)) continue
    const rest = split(run.slice(at), known, most - 1)
    if (rest !== undefined) return [head, ...rest]
  }
  return undefined
}
