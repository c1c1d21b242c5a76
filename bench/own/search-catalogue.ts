import { readFileSync } from 'node:fs'
import { concepts } from '../../src/mcp/catalogue/search/concepts.ts'
import type { SearchDocument } from '../../src/mcp/catalogue/search/document.ts'
import { documentOf } from '../../src/mcp/catalogue/search/tool-document.ts'
import type { JsonObject } from '../../src/words/json.ts'

/** Numbers that look random and are the same in every run. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const vocabulary = [...new Set(concepts.split(/[\s|_]+/).filter((word) => word.length > 2))]

/** Common words are common: the share of a word falls with its place in the list (Zipf). */
function words(next: () => number, count: number): string[] {
  return Array.from({ length: count }, () => vocabulary[Math.floor(vocabulary.length ** next()) - 1]!)
}

/** A made-up catalogue with the proportions of real ones: ten tools a server, twenty words a description, four parameters. */
export function madeCatalogue(size: number): SearchDocument[] {
  const next = chance(7)
  return Array.from({ length: size }, (_, n) => {
    const server = `server-${words(next, 1)[0]}-${Math.floor(n / 10)}`
    const name = `${words(next, 3).join('_')}_${n}`
    const parameters = Array.from({ length: 4 }, () => ({
      name: words(next, 2).join('_'),
      description: words(next, 6).join(' '),
    }))
    return { key: `${server}/${name}`, server, name, description: words(next, 20).join(' '), parameters }
  })
}

export function madeRequests(count: number): string[] {
  const next = chance(11)
  return Array.from({ length: count }, () => words(next, 5 + Math.floor(next() * 6)).join(' '))
}

export function readDocuments(file: string): SearchDocument[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const { server, ...definition } = JSON.parse(line) as JsonObject & { server: string; name: string }
      return documentOf({ key: `${server}/${definition.name}`, server, name: definition.name, definition })
    })
}

/** That many tools: a part of them, or all of them again under other servers. */
export function stretched(documents: readonly SearchDocument[], size: number): SearchDocument[] {
  return Array.from({ length: size }, (_, n) => {
    const document = documents[n % documents.length]!
    const copy = Math.floor(n / documents.length)
    if (copy === 0) return document
    const server = `${document.server}-${copy}`
    return { ...document, server, key: `${server}/${document.name}` }
  })
}
