import { endsOf } from './connection.ts'
import type { Session } from './session.ts'

export interface Drive {
  readonly callers: number
  readonly method: 'tools/call' | 'tools/list'
  /** Parameters of the nth call. */
  readonly params: (n: number) => object | undefined
  readonly calls: number
  /** Nothing is begun after this. */
  readonly maxMs: number
  /** Nanoseconds of CPU that the target has taken so far. */
  readonly cpuNanos: () => number
}

export interface Driven {
  readonly ok: number
  readonly errors: number
  readonly firstError?: string
  readonly perSecond: number
  /** NaN where no call succeeded, as all that follows. */
  readonly p50ms: number
  readonly p99ms: number
  readonly cpuMicros: number
}

// Parsing all replies would make the driver the heaviest of the processes.
const parsedEvery = 50

/** Makes that many calls through so many callers at once, each on a connection of its own, and counts. */
export async function drive(sessions: readonly Session[], plan: Drive): Promise<Driven> {
  const slots = Array.from({ length: plan.callers }, (_, n) => sessions[n % sessions.length]!.slot())
  const took: number[] = []
  let begun = 0
  let errors = 0
  let firstError: string | undefined
  const cpuBefore = plan.cpuNanos()
  const start = performance.now()
  await Promise.all(
    slots.map(async (slot) => {
      while (begun < plan.calls && performance.now() < start + plan.maxMs) {
        const n = begun++
        const before = performance.now()
        const wrong = await slot.call(plan.method, plan.params(n)).then(
          (answer) => wrongIn(answer, n % parsedEvery === 0),
          (fault: unknown) => String(fault),
        )
        if (wrong === undefined) took.push(performance.now() - before)
        else {
          errors++
          firstError ??= wrong
        }
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  const cpuMicros = (plan.cpuNanos() - cpuBefore) / 1000 / took.length
  for (const slot of slots) slot.close()
  took.sort((a, b) => a - b)
  const at = (part: number) => took[Math.floor(part * took.length)] ?? Number.NaN
  return {
    ok: took.length,
    errors,
    ...(firstError === undefined ? {} : { firstError }),
    perSecond: took.length / seconds,
    p50ms: at(0.5),
    p99ms: at(0.99),
    cpuMicros: took.length === 0 ? Number.NaN : cpuMicros,
  }
}

/** What is wrong with an answer; undefined where it is a result that is no error. */
function wrongIn(answer: Buffer, whole: boolean): string | undefined {
  if (!whole) {
    const ends = endsOf(answer)
    return ends.includes('"result":') && !ends.includes('"isError":true') ? undefined : ends
  }
  try {
    const { result } = JSON.parse(answer.toString('utf8')) as { result?: { isError?: boolean } }
    return result === undefined || result.isError === true ? endsOf(answer) : undefined
  } catch {
    return `no JSON: ${endsOf(answer)}`
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length === 0) return Number.NaN
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
