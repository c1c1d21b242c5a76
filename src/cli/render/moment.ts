/** A point in time as people and scripts both read it: UTC, to the second. */
export function moment(at: number | undefined): string {
  return at === undefined ? '' : new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** How long from now until then: `in 9 min`, `2 h ago`. */
export function fromNow(at: number, now: number = Date.now()): string {
  const apart = span(Math.abs(at - now))
  return at >= now ? `in ${apart}` : `${apart} ago`
}

export function span(ms: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ] as const
  for (const [length, unit] of units) if (ms >= length) return `${Math.floor(ms / length)} ${unit}`
  return `${Math.round(ms)} ms`
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = count
  let unit = 'B'
  for (const next of units) {
    if (value < 1024) break
    value /= 1024
    unit = next
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`
}
