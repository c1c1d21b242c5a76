import type { Json } from '../../words/json.ts'
import { yamlOf } from './lock-text.ts'

class Otherwise extends Error {}

/**
 * Reads text that `yamlOf` wrote, a hundred times as fast as a reader of all YAML (which takes seconds for a thousand
 * tools, before the first of them can be called). Undefined for any other text: what was read is written again, and counts
 * only where that gives the very same text, so that a mistake in here can cost time and nothing else.
 */
export function readOwnYaml(text: string): Json | undefined {
  try {
    const value = new OwnYaml(text).read()
    return yamlOf(value) === text ? value : undefined
  } catch (fault) {
    if (fault instanceof Otherwise || fault instanceof SyntaxError || fault instanceof RangeError) return undefined
    throw fault
  }
}

class OwnYaml {
  readonly #lines: string[]
  #at = 0

  constructor(text: string) {
    this.#lines = text.split('\n')
  }

  read(): Json {
    const first = this.#lines[0] ?? ''
    if (this.#lines.length === 2 && keyEnd(first, 0) === -1) return scalar(first)
    const value = this.#members(0)
    if (this.#at !== this.#lines.length - 1) throw new Otherwise()
    return value
  }

  /** Members that stand `indent` deep; where `first` is given, it is what stands after a dash instead of a line's beginning. */
  #members(indent: number, first?: number): Json {
    const entries: [string, Json][] = []
    for (let from = first; ; from = undefined) {
      const line = this.#lines[this.#at]
      if (line === undefined || (from === undefined && depthOf(line) !== indent)) break
      const start = from ?? indent
      const end = keyEnd(line, start)
      if (end === -1) break
      const key = line.slice(start, end)
      this.#at++
      entries.push([key.startsWith('"') ? text(key) : key, this.#after(line, end + 1, indent)])
    }
    if (entries.length === 0) throw new Otherwise()
    return Object.fromEntries(entries)
  }

  #after(line: string, from: number, indent: number): Json {
    const rest = line.slice(from)
    if (rest === ' |' || rest === ' |-') return this.#block(indent + 2, rest === ' |' ? '\n' : '')
    if (rest !== '') return scalar(rest.slice(1))
    const next = this.#lines[this.#at] ?? ''
    return next[indent + 2] === '-' && depthOf(next) === indent + 2
      ? this.#items(indent + 2)
      : this.#members(indent + 2)
  }

  #items(indent: number): Json {
    const items: Json[] = []
    for (;;) {
      const line = this.#lines[this.#at]
      if (line === undefined || depthOf(line) !== indent || line[indent] !== '-') return items
      if (line === `${' '.repeat(indent)}-`) {
        this.#at++
        items.push(this.#items(indent + 2))
      } else if (keyEnd(line, indent + 2) !== -1) items.push(this.#members(indent + 2, indent + 2))
      else {
        this.#at++
        items.push(scalar(line.slice(indent + 2)))
      }
    }
  }

  #block(indent: number, end: string): string {
    const lines: string[] = []
    for (;;) {
      const line = this.#lines[this.#at]
      if (line === undefined || (line !== '' && depthOf(line) < indent)) break
      // The text ends with a line end of its own, which belongs to no block.
      if (line === '' && this.#at === this.#lines.length - 1) break
      lines.push(line.slice(indent))
      this.#at++
    }
    return lines.join('\n') + end
  }
}

function depthOf(line: string): number {
  let depth = 0
  while (line.charCodeAt(depth) === 0x20) depth++
  return depth
}

/** Where the key that begins at `from` ends, which is at its colon; -1 where there is no key. */
function keyEnd(line: string, from: number): number {
  let n = from
  if (line[n] === '"') {
    for (n++; n < line.length && line[n] !== '"'; n++) if (line[n] === '\\') n++
    n++
  } else while (/[A-Za-z0-9_-]/.test(line[n] ?? '')) n++
  return n > from && line[n] === ':' && (n + 1 === line.length || line[n + 1] === ' ') ? n : -1
}

function scalar(written: string): Json {
  return written.startsWith('"') ? text(written) : (JSON.parse(written) as Json)
}

function text(written: string): string {
  if (!written.includes('\\U')) return JSON.parse(written) as string
  const json = written.replaceAll(/\\(?:U([0-9a-f]{8})|[^])/g, (escape, code: string | undefined) =>
    code === undefined ? escape : String.fromCodePoint(Number.parseInt(code, 16)),
  )
  return JSON.parse(json) as string
}
