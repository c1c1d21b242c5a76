/** Depths at which a ranking is measured. */
export const depths = [1, 3, 5, 10] as const
type Depth = `${(typeof depths)[number]}`

export interface Query {
  readonly id: string
  readonly query: string
  readonly register: string
  /** `any`: one of the first list is enough. `all`: one of each list is needed. */
  readonly needed: readonly (readonly string[])[]
}

export interface Measured {
  readonly queries: number
  readonly recallAt: Readonly<Record<Depth, number>>
  /** 95 %, by Wilson where a query hits or misses, else by resampling. */
  readonly recallInterval: Readonly<Record<Depth, Interval>>
  readonly mrr: number
  readonly mrrInterval: Interval
}
export type Interval = readonly [low: number, high: number]

/** What one query got, from the keys of the tools in the order of the ranking. */
export interface Outcome {
  readonly register: string
  /** Share of what was needed within each depth. */
  readonly shares: readonly number[]
  readonly reciprocal: number
}

export function outcomeOf({ register, needed }: Query, ranked: readonly string[]): Outcome {
  const shares = depths.map((depth) => {
    const top = new Set(ranked.slice(0, depth))
    return needed.filter((group) => group.some((key) => top.has(key))).length / needed.length
  })
  const right = new Set(needed.flat())
  const first = ranked.findIndex((key) => right.has(key))
  return { register, shares, reciprocal: first < 0 ? 0 : 1 / (first + 1) }
}

export function measure(outcomes: readonly Outcome[]): Measured {
  const at = depths.map((_, n) => outcomes.map(({ shares }) => shares[n]!))
  const reciprocals = outcomes.map(({ reciprocal }) => reciprocal)
  const byDepth = <Value>(of: (values: readonly number[]) => Value) =>
    Object.fromEntries(depths.map((depth, n) => [String(depth), of(at[n]!)])) as Record<Depth, Value>
  return {
    queries: outcomes.length,
    recallAt: byDepth((values) => rounded(mean(values))),
    recallInterval: byDepth(intervalOf),
    mrr: rounded(mean(reciprocals)),
    mrrInterval: resampled(reciprocals),
  }
}

export interface Abstained {
  readonly toolRequests: number
  readonly noToolRequests: number
  /** Probability that a tool request has a higher confidence than a request without one. */
  readonly auc: number
  /** Share of the requests without a tool that pass where 95 % of the tool requests do. */
  readonly passAt95: number
  readonly passAt95Interval: Interval
  /** At the floor that is in force: tool requests that get an answer, and other requests that are shown tools. */
  readonly atFloor: { readonly answered: number; readonly shown: number }
}

interface Judged {
  readonly value: number
  readonly answered: boolean
}

export function abstention(wanted: readonly Judged[], unwanted: readonly Judged[]): Abstained {
  const sorted = wanted.map(({ value }) => value).toSorted((one, other) => one - other)
  const threshold = sorted[Math.floor(sorted.length * 0.05)] ?? 0
  let wins = 0
  for (const { value } of unwanted) for (const one of sorted) wins += one > value ? 1 : one === value ? 0.5 : 0
  const passed = unwanted.map(({ value }) => (value >= threshold ? 1 : 0))
  const share = (of: readonly Judged[]) => rounded(mean(of.map(({ answered }) => (answered ? 1 : 0))))
  return {
    toolRequests: wanted.length,
    noToolRequests: unwanted.length,
    auc: rounded(wins / Math.max(1, wanted.length * unwanted.length)),
    passAt95: rounded(mean(passed)),
    passAt95Interval: intervalOf(passed),
    atFloor: { answered: share(wanted), shown: share(unwanted) },
  }
}

/** Value below which that share of the values lies; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

function intervalOf(values: readonly number[]): Interval {
  return values.every((value) => value === 0 || value === 1) ? wilson(mean(values), values.length) : resampled(values)
}

// E. B. Wilson 1927: unlike the normal approximation it stays within 0 and 1 and holds for few queries.
function wilson(share: number, n: number): Interval {
  if (n === 0) return [0, 1]
  const z = 1.96
  const middle = share + (z * z) / (2 * n)
  const spread = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))
  const scale = 1 + (z * z) / n
  return [rounded(Math.max(0, (middle - spread) / scale)), rounded(Math.min(1, (middle + spread) / scale))]
}

/** Percentile bootstrap with a fixed seed, so that the same data has the same interval. */
function resampled(values: readonly number[]): Interval {
  if (values.length === 0) return [0, 1]
  let seed = 0x9e3779b9
  const next = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const means = Array.from({ length: 500 }, () => {
    let sum = 0
    for (let n = 0; n < values.length; n++) sum += values[Math.floor(next() * values.length)]!
    return sum / values.length
  })
  return [rounded(quantile(means, 0.025)), rounded(quantile(means, 0.975))]
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
