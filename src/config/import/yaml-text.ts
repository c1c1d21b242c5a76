import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml'
import type { Json } from '../../words/json.ts'
import type { Edit } from './format.ts'

export function readYaml(text: string): Json {
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true })
  const first = document.errors[0]
  if (first !== undefined) throw new Error(first.message)
  return document.toJS({ maxAliasCount: 100 }) as Json
}

/** Whole lines are taken out and put in; no other line is written anew. */
export function editYaml(text: string, { root, remove, put }: Edit): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const document = parseDocument(text, { prettyErrors: false })
  const top = isMap(document.contents) ? document.contents : undefined
  const pair = top?.items.find((it) => isScalar(it.key) && it.key.value === root)
  const map = pair !== undefined && isMap(pair.value) ? pair.value : undefined
  if (map?.flow === true && map.items.length > 0) return inFlow(text, map, put, remove)
  const width = map === undefined || map.items.length === 0 ? 2 : columnOf(text, startOf(map.items[0]))
  const block = Object.entries(put)
    .map(([name, value]) => indented(stringify({ [name]: value }, { lineWidth: 0 }), width))
    .join('')
    .replaceAll('\n', eol)
  if (pair === undefined || top === undefined) {
    if (block === '') return text
    const ended = text === '' || text.endsWith('\n') ? '' : eol
    return `${text}${ended}${text === '' ? '' : eol}${root}:${eol}${block}`
  }
  if (map === undefined || map.flow === true) {
    // `servers: {}`, or nothing behind the colon.
    const colon = text.indexOf(':', endOf(pair.key)) + 1
    const rest = text.slice(map === undefined ? colon : endOf(map))
    const line = /^[^\n]*\n?/.exec(rest)![0]
    const ended = line.endsWith('\n') ? line : line + eol
    return block === '' ? text : text.slice(0, colon) + ended + block + rest.slice(line.length)
  }
  return inBlock(text, map, remove, block, eol)
}

/** The text with the plain value at that path written anew; as it is where nothing stands there. */
export function withScalar(text: string, path: readonly string[], value: string): string {
  const node = parseDocument(text, { prettyErrors: false }).getIn(path, true)
  if (!isScalar(node) || node.range === undefined || node.range === null) return text
  return text.slice(0, node.range[0]) + value + text.slice(node.range[1])
}

function inBlock(text: string, map: YAMLMap, remove: readonly string[], block: string, eol: string): string {
  const spans = map.items.map((item) => ({
    gone: isScalar(item.key) && remove.includes(String(item.key.value)),
    from: text.lastIndexOf('\n', startOf(item) - 1) + 1,
    to: lineEnd(text, endOf(item.value ?? item.key)),
  }))
  const gone = spans.filter((it) => it.gone)
  const place = gone[0]?.from ?? spans.at(-1)!.to
  let edited = ''
  let at = 0
  const put = (): void => {
    if (edited !== '' && !edited.endsWith('\n')) edited += eol
    // A map without entries has to stay a map.
    edited += block === '' && gone.length === spans.length ? `  {}${eol}` : block
  }
  if (gone.length === 0) {
    edited = text.slice(0, place)
    put()
    return edited + text.slice(place)
  }
  for (const { from, to } of gone) {
    edited += text.slice(at, from)
    if (from === place) put()
    at = to
  }
  return edited + text.slice(at)
}

// JSON is YAML, and stands in a flow map as it is.
function inFlow(text: string, map: YAMLMap, put: Edit['put'], remove: readonly string[]): string {
  const end = map.range![1] - 1
  if (remove.length > 0) return text
  const added = Object.entries(put).map(([name, value]) => `, ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `${text.slice(0, end).trimEnd()}${added.join('')}${text.slice(end)}`
}

function startOf(pair: Pair | undefined): number {
  return (pair?.key as { range?: [number, number, number] } | undefined)?.range?.[0] ?? 0
}

function endOf(node: unknown): number {
  return (node as { range?: [number, number, number] } | null)?.range?.[1] ?? 0
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1)
}

/** The end of the line in which the part before `at` ends. */
function lineEnd(text: string, at: number): number {
  if (at > 0 && text[at - 1] === '\n') return at
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

function indented(text: string, width: number): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(width))
}
