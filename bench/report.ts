import { readFileSync, statfsSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { Row } from './target.ts'

const tmpfs = 0x01021994

/** One table: a row for each target, a column for each scenario. */
export function table(rows: readonly Row[], cell: (row: Row) => string): string {
  const scenarios = [...new Set(rows.map(({ scenario }) => scenario))]
  const lines = [
    ['', ...scenarios],
    ['---', ...scenarios.map(() => '---:')],
    ...[...new Set(rows.map(({ target }) => target))].map((target) => [
      target,
      ...scenarios.map((scenario) => {
        const row = rows.find((one) => one.target === target && one.scenario === scenario)
        return row === undefined ? '' : cell(row)
      }),
    ]),
  ]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines.map((line) => `| ${line.map((text, n) => padded(text, widths[n]!, n > 0)).join(' | ')} |`).join('\n')
}

function padded(text: string, width: number, right: boolean): string {
  if (text === '---') return '-'.repeat(width)
  if (text === '---:') return `${'-'.repeat(width - 1)}:`
  return right ? text.padStart(width) : text.padEnd(width)
}

const number = (value: number, digits = 0) => (Number.isFinite(value) ? value.toFixed(digits) : '–')
const withErrors = (text: string, { errors }: Row) => (errors === 0 ? text : `${text} (${errors} errors)`)

export const ofDirect = (row: Row) => withErrors(number(row.ofDirect, row.ofDirect < 0.1 ? 3 : 2), row)
export const cpuMicros = (row: Row) => number(row.cpuMicros)
export const callsPerSecond = (row: Row) => number(row.perSecond)
export const latency = (row: Row) => `${number(row.p50ms, 2)} / ${number(row.p99ms, 1)}`

export interface Settings {
  readonly harness: string
  readonly rounds: number
  readonly sliceMs: number
  readonly warmMs: number
  /** A folder on the disk that holds the ledgers. */
  readonly work: string
}

/** What is written to bench/RESULTS.md. */
export function resultsPage(rows: readonly Row[], settings: Settings): string {
  return `# Benchmark results

Written by \`npm run bench -- --markdown\` on ${new Date().toISOString().slice(0, 10)}; how it is measured: [README.md](README.md).

- **Machine:** ${machine(settings.work)}
- **Settings:** Node ${process.versions.node}; ${settings.harness}; ${settings.rounds} rounds, slices of ${settings.sliceMs} ms, warm-up of up to ${settings.warmMs} ms; driver, gateway and upstream share the machine, over loopback.
- **Upstream:** hand-written, so that it is not what is slow: every ratio below is the harshest that there is.

## How to read it

- \`echo@16\` is the tool \`echo\` from 16 callers at once, \`big\` a result of 200 KB, \`list\` is \`tools/list\` of 1,000 tools.
- **Of direct** is calls per second against a slice of the direct connection right before, the median of all rounds. It belongs to
  this setting: what the driver takes of the machine is lost to the gateway.
- **CPU** is that of the gateway's own processes for one call, without the upstream's. It hardly moves with what else runs
  here, so it is the figure to compare; 1,000,000 divided by it is calls per second for each core.
- *reads grouped*: calls of class \`read\`, whose records are committed before the answer and synced within 50 ms. *reads strict*:
  synced before the answer too. *once*: calls with an effect, intent synced before a byte leaves and outcome before the answer,
  every call with arguments of its own. All gates are on in all three.
- The peers judge and record nothing. "http up" and "stdio up" say how they reach the upstream; Countersign does it over HTTP.

## Calls per second, of direct

${table(rows, ofDirect)}

## CPU per call, µs

${table(rows, cpuMicros)}

## Calls per second

${table(rows, callsPerSecond)}

## Latency, p50 / p99, ms

${table(rows, latency)}
${troubles(rows)}`
}

function machine(work: string): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const disk = statfsSync(work).type === tmpfs ? 'memory: nothing was really synced' : 'a disk'
  const [now, , quarter] = readFileSync('/proc/loadavg', 'utf8').split(' ')
  return `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${memory} GiB, Linux; load ${now} at the end, ${quarter} over the last quarter of an hour; ledgers on ${disk}`
}

export function troubles(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ target, why }) =>
    why === undefined ? [] : [`- ${target}: ${why.replaceAll(/\s+/g, ' ').slice(0, 300)}`],
  )
  return lines.length === 0 ? '' : `\n## What went wrong\n\n${[...new Set(lines)].join('\n')}\n`
}
