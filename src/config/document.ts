import { LineCounter, type Pair, type ParsedNode, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Json } from '../words/json.ts'
import { type ConfigProblem, ConfigFault } from './fault.ts'
import { type Environment, interpolate, namesSecret } from './interpolate.ts'

export type Path = readonly (string | number)[]

/** A YAML file as a plain value, which still knows where each part of it stands. */
export interface ConfigDocument {
  readonly value: Json
  /** Was the text at this path filled from the environment? */
  filled(path: Path): boolean
  /** A problem at the key of that path, at its value, or at the nearest part around it that exists. */
  problem(path: Path, message: string, hint?: string, side?: 'key' | 'value'): ConfigProblem
}

interface Place {
  readonly key: number
  readonly value: number
}

// An alias may stand for much; a configuration is small.
const mostNodes = 100_000
const deepest = 64

/** Throws ConfigFault with every YAML error, unset variable and doubtful key in it. */
export function readDocument(file: string, text: string, environment: Environment): ConfigDocument {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, version: '1.2' })
  const problems: ConfigProblem[] = []
  const rows = text.split(/\r?\n/)
  const places = new Map<string, Place>()
  const filled = new Set<string>()

  const problemAt = (offset: number, path: Path, message: string, hint?: string): ConfigProblem => {
    const { line, col } = lines.linePos(Math.min(offset, text.length))
    return { line, column: col, at: dotted(path), message, hint, source: withoutSecrets(rows[line - 1] ?? '', path) }
  }
  const isSecretPlace = (path: Path) =>
    (path[0] === 'servers' && (path[2] === 'env' || path[2] === 'headers')) ||
    (path[0] === 'notify' && path[2] === 'headers') ||
    path.at(-1) === 'clientSecret'

  for (const error of [...document.errors, ...document.warnings])
    problems.push(problemAt(error.pos[0], [], error.message))
  if (problems.length > 0) throw new ConfigFault('CONFIG_INVALID', file, problems)

  let seen = 0
  const read = (node: ParsedNode | null, path: Path, keyAt: number): Json => {
    const at = node?.range?.[0] ?? keyAt
    places.set(keyOf(path), { key: keyAt, value: at })
    if (++seen > mostNodes || path.length > deepest)
      throw new ConfigFault('CONFIG_INVALID', file, [
        problemAt(at, path, 'larger or deeper than a configuration may be'),
      ])
    if (node === null) return null
    if (isAlias(node)) {
      const target = node.resolve(document) as ParsedNode | undefined
      if (target === undefined) problems.push(problemAt(at, path, `the alias *${node.source} stands for nothing`))
      return target === undefined ? null : read(target, path, keyAt)
    }
    if (isSeq(node))
      return node.items.map((item, n) => read(item as ParsedNode, [...path, n], (item as ParsedNode).range[0]))
    if (isMap(node))
      return Object.fromEntries(
        node.items.flatMap((pair) => readPair(pair as Pair<ParsedNode, ParsedNode | null>, path)),
      )
    if (!isScalar(node)) return null
    return typeof node.value === 'string' ? readText(node.value, path, at) : (node.value as Json)
  }
  const readPair = (pair: Pair<ParsedNode, ParsedNode | null>, path: Path): [string, Json][] => {
    const at = pair.key.range[0]
    const key = isScalar(pair.key) ? String(pair.key.value) : undefined
    if (key === undefined || key === '__proto__') {
      problems.push(problemAt(at, path, 'a key that no setting can have', 'Keys are plain words.'))
      return []
    }
    return [[key, read(pair.value, [...path, key], at)]]
  }
  const readText = (text: string, path: Path, at: number): string => {
    const found = interpolate(text, environment)
    if (found.kind === 'wrong') {
      problems.push(problemAt(at, path, found.message, found.hint))
      return text
    }
    if (found.kind === 'plain') return found.text
    filled.add(keyOf(path))
    const secret = isSecretPlace(path) ? undefined : found.names.find(namesSecret)
    if (secret !== undefined) {
      const hint = 'Arguments, URLs and all else are shown and logged; put it under `env` or `headers` of the server.'
      problems.push(problemAt(at, path, `${secret} looks like a secret, and this is no place for one`, hint))
    }
    return found.text
  }

  const value = read(document.contents as ParsedNode | null, [], 0)
  if (problems.length > 0) throw new ConfigFault('CONFIG_INVALID', file, problems)
  return {
    value,
    filled: (path) => filled.has(keyOf(path)),
    problem: (path, message, hint, side = 'value') => {
      const whole = places.get(keyOf(path))
      if (whole !== undefined) return problemAt(side === 'key' ? whole.key : whole.value, path, message, hint)
      let around = path
      while (around.length > 0 && !places.has(keyOf(around))) around = around.slice(0, -1)
      return problemAt(places.get(keyOf(around))?.key ?? 0, path, message, hint)
    },
  }
}

function keyOf(path: Path): string {
  return path.join('\u0000')
}

function dotted(path: Path): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[\w-]+$/.test(part)) text += text === '' ? part : `.${part}`
    else text += `[${JSON.stringify(part)}]`
  }
  return text
}

// The line is shown on a terminal and may end in a log: a value that may be a secret is left out of it.
function withoutSecrets(line: string, path: Path): string {
  const [, head, key, value] = /^(.*?["']?([\w-]+)["']?\s*:\s*)(.*)$/.exec(line) ?? []
  if (head === undefined || key === undefined || value === undefined || value === '') return line
  const secretPlace = path[2] === 'env' || path[2] === 'headers'
  const secretName = namesSecret(key) || /^(authorization|cookie)$/i.test(key)
  if ((!secretPlace && !secretName) || key === 'tokenFile' || /^["']?\$\{\w+\}["']?$/.test(value)) return line
  return `${head}…`
}
