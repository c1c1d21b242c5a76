/** Bound on the label sets of one metric: a client that makes names up must not fill the memory. */
const MOST_SERIES = 2_000

export type Labels = Readonly<Record<string, string>>

interface Series {
  readonly labels: string
  counts: number[]
  sum: number
}

/** Counters and histograms, and the text that Prometheus reads (exposition format 0.0.4). */
export class Metrics {
  readonly #metrics = new Map<string, Metric>()

  counter(name: string, help: string): { add(labels: Labels, by?: number): void } {
    const metric = this.#metric(name, help, undefined)
    return { add: (labels, by = 1) => metric.add(labels, by) }
  }

  histogram(name: string, help: string, buckets: readonly number[]): { record(labels: Labels, value: number): void } {
    const metric = this.#metric(name, help, buckets)
    return { record: (labels, value) => metric.add(labels, value) }
  }

  /** Asked for each time that it is read. */
  gauge(name: string, help: string, read: () => Iterable<readonly [Labels, number]>): void {
    this.#metrics.set(name, new Metric(name, help, undefined, read))
  }

  text(): string {
    return `${[...this.#metrics.values()].flatMap((metric) => metric.lines()).join('\n')}\n`
  }

  #metric(name: string, help: string, buckets: readonly number[] | undefined): Metric {
    const metric = new Metric(name, help, buckets)
    this.#metrics.set(name, metric)
    return metric
  }
}

class Metric {
  readonly #name: string
  readonly #help: string
  readonly #buckets: readonly number[] | undefined
  readonly #read: (() => Iterable<readonly [Labels, number]>) | undefined
  readonly #series = new Map<string, Series>()

  constructor(
    name: string,
    help: string,
    buckets: readonly number[] | undefined,
    read?: () => Iterable<readonly [Labels, number]>,
  ) {
    this.#name = name.replaceAll('.', '_')
    this.#help = help
    this.#buckets = buckets
    this.#read = read
  }

  add(labels: Labels, value: number): void {
    const series = this.#of(labels)
    series.sum += value
    const buckets = this.#buckets
    if (buckets === undefined) return
    const at = buckets.findIndex((bound) => value <= bound)
    const slot = at < 0 ? buckets.length : at
    series.counts[slot] = (series.counts[slot] ?? 0) + 1
  }

  lines(): string[] {
    const type = this.#read !== undefined ? 'gauge' : this.#buckets === undefined ? 'counter' : 'histogram'
    const head = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} ${type}`]
    if (this.#read !== undefined)
      return [
        ...head,
        ...[...this.#read()].map(([labels, value]) => `${this.#name}${braced(labelText(labels))} ${value}`),
      ]
    return [...head, ...[...this.#series.values()].flatMap((series) => this.#seriesLines(series))]
  }

  #seriesLines({ labels, counts, sum }: Series): string[] {
    const buckets = this.#buckets
    if (buckets === undefined) return [`${this.#name}${braced(labels)} ${sum}`]
    let total = 0
    const lines = buckets.map((bound, n) => {
      total += counts[n] ?? 0
      return `${this.#name}_bucket${braced(joined(labels, `le="${bound}"`))} ${total}`
    })
    total += counts[buckets.length] ?? 0
    return [
      ...lines,
      `${this.#name}_bucket${braced(joined(labels, 'le="+Inf"'))} ${total}`,
      `${this.#name}_sum${braced(labels)} ${sum}`,
      `${this.#name}_count${braced(labels)} ${total}`,
    ]
  }

  #of(labels: Labels): Series {
    const key = labelText(labels)
    let series = this.#series.get(key)
    if (series === undefined) {
      const full = this.#series.size >= MOST_SERIES
      // What is beyond the bound is counted together, so that sums stay true.
      const text = full ? labelText(Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))) : key
      series = this.#series.get(text) ?? { labels: text, counts: [], sum: 0 }
      this.#series.set(text, series)
    }
    return series
  }
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')
}

function escaped(value: string): string {
  return value.slice(0, 128).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function joined(labels: string, more: string): string {
  return labels === '' ? more : `${labels},${more}`
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`
}
