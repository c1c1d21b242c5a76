export interface Rate {
  /** 0 to 1; 0 where there is nothing to count. */
  readonly rate: number
  /** Of 95 %, by Wilson's score: it stays within 0 and 1, and says something of small samples too. */
  readonly interval: readonly [number, number]
}

const Z = 1.959964

export function rateOf(hits: number, all: number): Rate {
  if (all === 0) return { rate: 0, interval: [0, 1] }
  const rate = hits / all
  const z2 = (Z * Z) / all
  const middle = rate + z2 / 2
  const spread = Z * Math.sqrt((rate * (1 - rate)) / all + z2 / (4 * all))
  return {
    rate,
    interval: [(middle - spread) / (1 + z2), (middle + spread) / (1 + z2)].map((one) =>
      Math.min(1, Math.max(0, one)),
    ) as [number, number],
  }
}
