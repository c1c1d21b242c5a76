import { performance } from 'node:perf_hooks'
import { confidenceOf } from '../../mcp/catalogue/search/confidence.ts'
import { SearchIndex } from '../../mcp/catalogue/search/index.ts'
import {
  type Abstained,
  type Measured,
  abstention,
  depths,
  measure,
  outcomeOf,
  quantile,
} from '../../mcp/catalogue/search/measure.ts'
import type { Io } from '../io.ts'
import { UsageFault } from '../fault.ts'
import { tableLines } from '../render/table.ts'
import { readCatalogue, readQueries } from './catalogue-files.ts'
import { type TokenReport, tokenLines, tokenReport } from './token-report.ts'

export interface DiscoveryFiles {
  readonly tools: string
  readonly queries?: string
  readonly none?: string
  readonly servers?: string
  readonly examples?: string
  readonly tokens?: boolean
}

export interface DiscoveryReport extends Measured {
  readonly tools: number
  readonly byRegister: Readonly<Record<string, Measured>>
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  readonly buildMs: number
  /** Right answers that are not in the catalogue, and so count as missed. */
  readonly goldOutside: number
  readonly engine: string
  readonly abstention?: Abstained
  readonly tokens?: TokenReport
}

/** Measures the default engine on a catalogue and requests from files, and prints the report. */
export async function evalDiscovery(files: DiscoveryFiles, io: Io): Promise<void> {
  if (files.queries === undefined && files.tokens !== true) {
    throw new UsageFault('expected --queries FILE or --tokens', 'See `countersign eval discovery --help`.')
  }
  const { documents, definitions } = readCatalogue(files.tools, files.servers, files.examples)
  const { queries, none } = files.queries === undefined ? { queries: [], none: [] } : readQueries(files.queries)
  const apart = files.none === undefined ? [] : readQueries(files.none).none
  const unwanted = [...none, ...apart]

  const begun = performance.now()
  const index = new SearchIndex()
  for (const document of documents) index.add(document)
  const buildMs = performance.now() - begun

  // Once before it is timed: what is measured is a gateway that has been running.
  for (const { query } of queries.slice(0, 50)) index.search(query, 10)
  const times: number[] = []
  const judged = (query: string) => {
    const { hits } = index.search(query, 10)
    const { value, why } = confidenceOf(query, { hits }, index.size)
    return { value, answered: why === undefined }
  }
  const outcomes = queries.map((query) => {
    const at = performance.now()
    const { hits } = index.search(query.query, 10)
    times.push(performance.now() - at)
    return outcomeOf(
      query,
      hits.map(({ key }) => key),
    )
  })
  const registers = [...new Set(outcomes.map(({ register }) => register))]
  const single = queries.filter(({ needed }) => needed.length === 1)
  const report: DiscoveryReport = {
    ...measure(outcomes),
    tools: index.size,
    byRegister: Object.fromEntries(
      registers.map((name) => [name, measure(outcomes.filter(({ register }) => register === name))]),
    ),
    latencyMs: { p50: quantile(times, 0.5), p95: quantile(times, 0.95) },
    buildMs,
    goldOutside: queries.filter(({ needed }) => needed.some((group) => !group.some((key) => definitions.has(key))))
      .length,
    engine: 'weighted BM25 in memory, no model',
    ...(unwanted.length === 0
      ? {}
      : {
          abstention: abstention(
            single.map(({ query }) => judged(query)),
            unwanted.map(judged),
          ),
        }),
    ...(files.tokens === true ? { tokens: await tokenReport(documents, definitions, index, queries) } : {}),
  }
  if (io.json) io.outJson(report)
  else for (const line of reportLines(report, io)) io.out(line)
}

function reportLines(report: DiscoveryReport, io: Pick<Io, 'columns' | 'paint'>): string[] {
  const { tools, engine, buildMs, latencyMs, goldOutside } = report
  const lines: string[] = []
  if (report.queries > 0) {
    const percent = (value: number) => (value * 100).toFixed(1)
    const row = (name: string, of: Measured): string[] => [
      name,
      String(of.queries),
      ...depths.map((depth) => percent(of.recallAt[`${depth}`])),
      of.recallInterval['3'].map(percent).join('–'),
      of.mrr.toFixed(3),
      of.mrrInterval.map((value) => value.toFixed(2)).join('–'),
    ]
    const rows = [...Object.entries(report.byRegister).map(([name, of]) => row(name, of)), row('all', report)]
    lines.push(
      `${tools} tools, ${report.queries} requests; ${engine}. Recall in %, intervals of 95 %.`,
      ...tableLines(['REGISTER', 'N', '@1', '@3', '@5', '@10', '@3 INTERVAL', 'MRR', 'MRR INTERVAL'], rows, io),
      `latency: p50 ${latencyMs.p50.toFixed(3)} ms, p95 ${latencyMs.p95.toFixed(3)} ms; index made in ${buildMs.toFixed(0)} ms`,
    )
    if (goldOutside > 0) lines.push(`${goldOutside} requests name a right tool that the catalogue does not hold.`)
  }
  if (report.abstention !== undefined) {
    const { auc, passAt95, passAt95Interval, atFloor, toolRequests, noToolRequests } = report.abstention
    const share = (value: number) => `${(value * 100).toFixed(0)} %`
    lines.push(
      `abstention: of ${noToolRequests} requests that need no tool ${share(passAt95)} (${passAt95Interval.map(share).join('–')}) pass where 95 % of ` +
        `${toolRequests} tool requests do; AUC ${auc.toFixed(3)}`,
      `at the floor in force: ${share(atFloor.answered)} of the tool requests are answered, and ${share(atFloor.shown)} of the others are shown tools`,
    )
  }
  if (report.tokens !== undefined) lines.push(...tokenLines(report.tokens, io))
  return lines
}
