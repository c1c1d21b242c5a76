import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Plan, type Row, scenarioName } from './target.ts'

/** The load harness that lies beside the repository in some checkouts. */
export const sharedHarness = join(import.meta.dirname, '..', '..', 'shared', 'bench')

/** A copy that may write beside itself; undefined where there is no harness. */
export function copyOfHarness(folder: string): string | undefined {
  if (!existsSync(join(sharedHarness, 'compare.mjs'))) return undefined
  const copy = join(folder, 'harness')
  mkdirSync(copy, { recursive: true })
  for (const name of ['compare.mjs', 'drive.mjs', 'client.mjs', 'upstream.mjs', 'proc.mjs', 'package.json'])
    // Read and written: a plain copy would keep the mode, which may be read-only.
    writeFileSync(join(copy, name), readFileSync(join(sharedHarness, name)))
  return copy
}

interface Reported {
  readonly report: readonly {
    readonly scenario: string
    readonly rows: readonly {
      readonly target: string
      readonly failed?: string
      readonly perSec: number
      readonly ofDirect: number
      readonly p50ms: number
      readonly p99ms: number
      readonly cpuUsPerCall: number
      readonly errors: number
    }[]
  }[]
}

/** One run of the harness's own comparer, with target files made for it. */
export async function compareShared(
  harness: string,
  plan: Plan,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const targets = plan.targets.map((target, n) => {
    const file = join(plan.work, `target-${n}.json`)
    writeFileSync(file, JSON.stringify(target))
    return file
  })
  const out = join(plan.work, 'report.json')
  const options = {
    targets: targets.join(','),
    scenarios: plan.scenarios.map(scenarioName).join(','),
    rounds: plan.rounds,
    'slice-ms': plan.sliceMs,
    'warm-ms': plan.warmMs,
    'upstream-port': plan.upstreamPort,
    'upstream-tools': plan.upstreamTools,
    out,
  }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(process.execPath, [join(harness, 'compare.mjs'), ...args, '--verbose'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => text.split('\n').filter(Boolean).forEach(say))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${basename(harness)}/compare.mjs ended with ${code}`)
  const { report } = JSON.parse(readFileSync(out, 'utf8')) as Reported
  return report.flatMap(({ scenario, rows }) =>
    plan.targets.map(({ name }): Row => {
      const row = rows.find(({ target }) => target === name)
      const { perSec = NaN, ofDirect = NaN, p50ms = NaN, p99ms = NaN, cpuUsPerCall = NaN, errors = 0 } = row ?? {}
      const figures = { perSecond: perSec, ofDirect, p50ms, p99ms, cpuMicros: cpuUsPerCall, errors }
      const why = row === undefined ? 'did not start' : row.failed
      return { target: name, scenario, ...figures, ...(why === undefined ? {} : { why }) }
    }),
  )
}
