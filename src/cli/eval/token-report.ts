import { declarationOf } from '../../mcp/catalogue/search/declaration.ts'
import type { SearchDocument } from '../../mcp/catalogue/search/document.ts'
import type { SearchIndex } from '../../mcp/catalogue/search/index.ts'
import type { Query } from '../../mcp/catalogue/search/measure.ts'
import { type JsonObject, member } from '../../words/json.ts'
import { countTokens } from '../../model/tokens.ts'
import type { Io } from '../io.ts'
import { tableLines } from '../render/table.ts'

/** What tools cost a model, in tokens of o200k: exact for models of OpenAI, an estimate for others. */
export interface TokenReport {
  readonly method: string
  readonly tools: number
  readonly allSchemas: number
  readonly allDeclarations: number
  /** Means over the requests, or over tools in the order of the file where there are none. */
  readonly top3Declarations: number
  readonly top5Declarations: number
  readonly top3Schemas: number
  /** Share of `allSchemas` that is saved by showing three declarations. */
  readonly saved3: number
  readonly saved5: number
  /** The first 80 definitions, and five declarations in their place. */
  readonly eighty?: { readonly schemas: number; readonly top5: number; readonly saved: number }
}

export async function tokenReport(
  documents: readonly SearchDocument[],
  definitions: ReadonlyMap<string, JsonObject>,
  index: SearchIndex,
  queries: readonly Query[],
): Promise<TokenReport> {
  const count = await countTokens()
  const schemas = new Map<string, number>()
  const declarations = new Map<string, number>()
  for (const { key, server, name, description } of documents) {
    const definition = definitions.get(key)!
    // As a model is told of it: under the name by which it is called.
    const exported = `${server}__${name}`
    schemas.set(key, count(JSON.stringify({ ...definition, name: exported })))
    const inputSchema = member(definition, 'inputSchema')
    declarations.set(key, count(declarationOf({ name: exported, description, inputSchema })))
  }
  const sum = (of: ReadonlyMap<string, number>, keys: Iterable<string>): number => {
    let total = 0
    for (const key of keys) total += of.get(key)!
    return total
  }
  const keys = [...schemas.keys()]
  const answers =
    queries.length === 0
      ? keys.map((_, n) => keys.slice(n, n + 5))
      : queries.map(({ query }) => index.search(query, 5).hits.map(({ key }) => key))
  const mean = (of: ReadonlyMap<string, number>, most: number) =>
    answers.reduce((total, answer) => total + sum(of, answer.slice(0, most)), 0) / Math.max(1, answers.length)
  const allSchemas = sum(schemas, keys)
  const [top3, top5] = [mean(declarations, 3), mean(declarations, 5)]
  const eighty = keys.slice(0, 80)
  const eightySchemas = sum(schemas, eighty)
  const eightyTop5 = (sum(declarations, eighty) / eighty.length) * 5
  return {
    method: 'o200k (gpt-tokenizer): exact for models of OpenAI, an estimate for others',
    tools: keys.length,
    allSchemas,
    allDeclarations: sum(declarations, keys),
    top3Declarations: Math.round(top3),
    top5Declarations: Math.round(top5),
    top3Schemas: Math.round(mean(schemas, 3)),
    saved3: 1 - top3 / allSchemas,
    saved5: 1 - top5 / allSchemas,
    ...(eighty.length < 80
      ? {}
      : { eighty: { schemas: eightySchemas, top5: Math.round(eightyTop5), saved: 1 - eightyTop5 / eightySchemas } }),
  }
}

export function tokenLines(report: TokenReport, io: Pick<Io, 'columns' | 'paint'>): string[] {
  const saved = (share: number) => `${(share * 100).toFixed(2)} %`
  const of = (tokens: number) => saved(1 - tokens / report.allSchemas)
  const rows = [
    ['all schemas', String(report.allSchemas), ''],
    ['all declarations', String(report.allDeclarations), of(report.allDeclarations)],
    ['3 schemas', String(report.top3Schemas), of(report.top3Schemas)],
    ['5 declarations', String(report.top5Declarations), saved(report.saved5)],
    ['3 declarations', String(report.top3Declarations), saved(report.saved3)],
  ]
  const { eighty } = report
  return [
    `tokens by ${report.method}`,
    ...tableLines(['SHOWN', 'TOKENS', 'SAVED'], rows, io),
    ...(eighty === undefined
      ? []
      : [`80 tools: ${eighty.schemas} tokens; 5 declarations of them: ${eighty.top5} (${saved(eighty.saved)} fewer)`]),
  ]
}
