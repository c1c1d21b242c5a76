import { existsSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import MiniSearch from 'minisearch'
import type { SearchDocument } from '../../src/mcp/catalogue/search/document.ts'
import { SearchIndex } from '../../src/mcp/catalogue/search/index.ts'
import { quantile } from '../../src/mcp/catalogue/search/measure.ts'
import { isEmpty, terms, words } from '../../src/mcp/catalogue/search/words.ts'
import { madeCatalogue, madeRequests, readDocuments, stretched } from './search-catalogue.ts'

/**
 * Search at 100, 2,800 and 20,000 tools beside SQLite's FTS5 and a tuned MiniSearch, in one process and one run:
 *
 *   node bench/own/search.ts [--tools FILE --queries FILE] [--check]
 *
 * Without files the catalogue is made up. With --check it fails where our p95 is above the faster of the two, or our index
 * takes longer to make than MiniSearch's.
 */
interface Engine {
  readonly name: string
  /** Makes the index and answers how it is asked. */
  readonly make: (documents: readonly SearchDocument[]) => {
    readonly ask: (request: string) => unknown
    readonly close?: () => void
  }
}

export interface Row {
  readonly engine: string
  readonly tools: number
  readonly buildMs: number
  readonly p50: number
  readonly p95: number
  readonly megabytes: number
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

// The weights that the comparison of engines in discovery came to, for both.
const weights = { name: 3, server: 2.2, description: 1, parameters: 0.35 }

const ours: Engine = {
  name: 'countersign',
  make: (documents) => {
    const index = new SearchIndex()
    for (const document of documents) index.add(document)
    return { ask: (request) => index.search(request, 10) }
  },
}

const mini: Engine = {
  name: 'minisearch, tuned',
  make: (documents) => {
    // The same analyser as ours: what is compared is the index.
    const index = new MiniSearch({
      idField: 'key',
      fields: Object.keys(weights),
      tokenize: terms,
      processTerm: (term) => term,
      extractField: (document: SearchDocument, field: string) =>
        field === 'parameters'
          ? parametersOf(document)
          : ((document as unknown as Record<string, string>)[field] ?? ''),
      searchOptions: { boost: weights, combineWith: 'OR' },
    })
    index.addAll([...documents])
    return { ask: (request) => index.search(request).slice(0, 10) }
  },
}

const fts: Engine = {
  name: 'FTS5 of node:sqlite',
  make: (documents) => {
    const database = new DatabaseSync(':memory:')
    database.exec(
      "CREATE VIRTUAL TABLE tool USING fts5(name, server, description, parameters, tokenize = 'porter unicode61')",
    )
    const insert = database.prepare('INSERT INTO tool VALUES (?, ?, ?, ?)')
    database.exec('BEGIN')
    for (const document of documents) {
      const { name, server, description } = document
      insert.run(words(name).join(' '), words(server).join(' '), description.slice(0, 600), parametersOf(document))
    }
    database.exec('COMMIT')
    const select = database.prepare(
      `SELECT rowid, bm25(tool, ${Object.values(weights).join(', ')}) AS score FROM tool WHERE tool MATCH ? ORDER BY score LIMIT 10`,
    )
    return {
      ask: (request) => {
        const match = [...new Set(words(request).filter((word) => !isEmpty(word)))]
          .map((word) => `"${word}"`)
          .join(' OR ')
        return match === '' ? [] : select.all(match)
      },
      close: () => database.close(),
    }
  },
}

function parametersOf({ parameters = [] }: SearchDocument): string {
  return parameters
    .map(({ name, description = '' }) => `${name} ${description}`)
    .join(' ')
    .slice(0, 1_500)
}

function memory(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function measured(engine: Engine, documents: readonly SearchDocument[], requests: readonly string[]): Row {
  const before = memory()
  const begun = performance.now()
  const { ask, close } = engine.make(documents)
  const buildMs = performance.now() - begun
  const megabytes = (memory() - before) / 2 ** 20
  for (const request of requests) ask(request)
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    for (const request of requests) {
      const at = performance.now()
      ask(request)
      times.push(performance.now() - at)
    }
  }
  close?.()
  return {
    engine: engine.name,
    tools: documents.length,
    buildMs,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    megabytes,
  }
}

/** Each engine at each size. Every engine is made once before, so that none pays for the warming of another. */
export function compareSearch(
  documents: readonly SearchDocument[],
  requests: readonly string[],
  sizes: readonly number[],
): Row[] {
  const engines = [fts, mini, ours]
  for (const engine of engines) measured(engine, stretched(documents, 100), requests.slice(0, 50))
  return sizes.flatMap((size) => {
    const tools = stretched(documents, size)
    return engines.map((engine) => measured(engine, tools, requests))
  })
}

function main(args: readonly string[]): void {
  const after = (flag: string) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined)
  const [tools, queries] = [after('--tools'), after('--queries')]
  const documents = tools === undefined || !existsSync(tools) ? madeCatalogue(2_800) : readDocuments(tools)
  const requests =
    queries === undefined
      ? madeRequests(200)
      : readFileSync(queries, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => (JSON.parse(line) as { query: string }).query)
  const rows = compareSearch(documents, requests, [100, 2_800, 20_000])
  console.table(
    rows.map(({ engine, tools: n, buildMs, p50, p95, megabytes }) => ({
      engine,
      tools: n,
      'build ms': Math.round(buildMs),
      'p50 ms': p50.toFixed(3),
      'p95 ms': p95.toFixed(3),
      MB: megabytes.toFixed(1),
    })),
  )
  if (!args.includes('--check')) return
  for (const size of new Set(rows.map(({ tools: n }) => n))) {
    const [sqlite, other, own] = rows.filter(({ tools: n }) => n === size)
    const slower = own!.p95 > Math.min(sqlite!.p95, other!.p95) || own!.buildMs > other!.buildMs
    if (slower) process.exitCode = 1
    console.log(`${size} tools: ${slower ? 'slower than allowed' : 'fine'}`)
  }
}

if (import.meta.main) main(process.argv.slice(2))
