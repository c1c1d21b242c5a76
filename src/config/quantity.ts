const durationUnits = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const sizeUnits = { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const

/** Milliseconds of a text such as `25s`, `1.5h` or `500ms`; undefined for anything else, a number without a unit included. */
export function parseDuration(text: string): number | undefined {
  return quantity(text, durationUnits)
}

/** Bytes of a text such as `256KiB` or `100MB`; undefined for anything else. */
export function parseSize(text: string): number | undefined {
  return quantity(text, sizeUnits)
}

function quantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?) ?([A-Za-z]{1,3})$/.exec(text) ?? []
  if (number === undefined || unit === undefined || !Object.hasOwn(units, unit)) return undefined
  const value = Number(number) * units[unit]!
  return Number.isSafeInteger(value) ? value : undefined
}
