// npm run bench [-- --quick] [--only NAME] [--rounds N] [--own] [--markdown]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { definitionsOf, governed, governedTarget } from './gateway.ts'
import { compareOwn } from './own/compare.ts'
import { freePort } from './own/running.ts'
import { direct, peers } from './peers.ts'
import { cpuMicros, latency, ofDirect, resultsPage, table, troubles } from './report.ts'
import { compareShared, copyOfHarness } from './shared.ts'
import type { Plan, Row, Scenario, Target } from './target.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string' },
    own: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
})

const echoes: readonly Scenario[] = [1, 16, 64].map((callers) => ({ what: 'echo', callers }))
const calls: readonly Scenario[] = [...echoes, { what: 'big', callers: 8 }]
const lists: readonly Scenario[] = [{ what: 'list', callers: 1 }]

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const wanted = ({ name }: { readonly name: string }): boolean =>
  options.only.length === 0 || options.only.some((part) => name.includes(part))

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

// Not the folder for temporary files, which is memory on many machines: there a sync would cost nothing.
mkdirSync(join(import.meta.dirname, 'work'), { recursive: true })
const work = mkdtempSync(join(import.meta.dirname, 'work', 'run-'))
try {
  const harness = options.own ? undefined : copyOfHarness(work)
  const upstream = join(
    harness ?? join(import.meta.dirname, 'own'),
    harness === undefined ? 'upstream.ts' : 'upstream.mjs',
  )
  const settings = {
    rounds: Number(options.rounds ?? (options.quick ? 1 : 5)),
    sliceMs: options.quick ? 500 : 1200,
    warmMs: options.quick ? 1500 : 4000,
  }
  const ours = governed.filter(wanted)
  const others = peers.filter(wanted)

  /** One upstream, and everything in front of it that is wanted; the comparer is the harness's where it can do it. */
  const compare = async (
    name: string,
    scenarios: readonly Scenario[],
    tools: number,
    which: (target: Target) => boolean,
    byHarness: boolean,
  ): Promise<readonly Row[]> => {
    const folder = join(work, name)
    mkdirSync(folder)
    const port = await freePort()
    const definitions = await definitionsOf(upstream, tools)
    const url = `http://127.0.0.1:${port}/mcp`
    const gateways = ours.map((one, n) => governedTarget(join(folder, `governed-${n}`), one, url, definitions))
    const targets = [direct, ...[...gateways, ...others].filter(which)]
    if (targets.length === 1 && options.only.length > 0 && !options.only.includes('direct')) return []
    const plan: Plan = {
      ...settings,
      targets,
      scenarios,
      upstream,
      upstreamPort: port,
      upstreamTools: tools,
      work: folder,
    }
    return byHarness && harness !== undefined
      ? await compareShared(harness, plan, say, interrupted.signal)
      : await compareOwn(plan, say, interrupted.signal)
  }

  const rows: Row[] = []
  const varied = ({ vary }: Target): boolean => vary === true
  const plain = (target: Target): boolean => !varied(target)
  rows.push(...(await compare('calls', calls, 10, harness === undefined ? () => true : plain, true)))
  // The shared comparer sends the same arguments each time, which is no way to measure what may happen once only.
  if (harness !== undefined && ours.some(({ effect }) => effect === 'once'))
    rows.push(...(await compare('once', echoes, 10, varied, false)).filter(({ target }) => target !== direct.name))
  rows.push(...(await compare('lists', lists, 1000, plain, true)))

  const order = [direct, ...governed, ...peers].map(({ name }) => name)
  rows.sort((a, b) => order.indexOf(a.target) - order.indexOf(b.target))
  console.log(`\nCalls per second, of direct\n\n${table(rows, ofDirect)}`)
  console.log(`\nCPU per call, µs, of the target's own processes\n\n${table(rows, cpuMicros)}`)
  console.log(`\nLatency, p50 / p99, ms\n\n${table(rows, latency)}\n${troubles(rows)}`)
  if (options.markdown) {
    const which = harness === undefined ? 'own harness (bench/own)' : 'shared load harness; bench/own for `once`'
    writeFileSync(join(import.meta.dirname, 'RESULTS.md'), resultsPage(rows, { ...settings, harness: which, work }))
  }
} catch (fault) {
  if (!interrupted.signal.aborted) throw fault
  process.exitCode = 130
} finally {
  rmSync(work, { recursive: true, force: true })
}
