/** The known word that a mistyped one most likely stands for; undefined when none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = plain(word)
  // A typing error or two; half of a short word is no longer a typing error.
  let least = (wanted.length < 2 ? 0 : Math.min(3, Math.max(1, Math.floor(wanted.length / 3)))) + 1
  let found: string | undefined
  for (const candidate of known) {
    const apart = distance(wanted, plain(candidate))
    if (apart < least) {
      least = apart
      found = candidate
    }
  }
  return found
}

// `max_results`, `max-results` and `maxResults` are the same word to the person who typed it.
function plain(word: string): string {
  return word
    .toLowerCase()
    .replaceAll(/[-_. ]/g, '')
    .slice(0, 64)
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function distance(one: string, other: string): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, n) => n)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, before[j - 2]! + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[other.length]!
}
