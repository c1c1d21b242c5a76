import { parse, stringify, type TomlTable } from 'smol-toml'
import type { Json } from '../../words/json.ts'
import type { Edit } from './format.ts'

export function readToml(text: string): Json {
  // Dates come as objects that print themselves as text.
  return JSON.parse(JSON.stringify(parse(text, { integersAsBigInt: 'asNeeded' }), printed)) as Json
}

/** Tables are taken out and put in as whole blocks of lines, from one header to the next. */
export function editToml(text: string, { root, remove, put }: Edit): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = text.split(/(?<=\n)/)
  const kept: string[] = []
  let place: number | undefined
  let removing = false
  // Comments and blank lines before a header belong to it, also where the table before is taken out.
  let loose: string[] = []
  for (const line of lines) {
    const header = headerOf(line)
    if (header !== undefined) {
      if (removing) kept.push(...loose)
      loose = []
      removing = header[0] === root && remove.includes(header[1] ?? '')
      if (removing) place ??= kept.length
    }
    if (!removing) kept.push(line)
    else if (/^\s*(#.*)?\s*$/.test(line)) loose.push(line)
    else loose = []
  }
  if (removing) kept.push(...loose)
  const tables = Object.entries(put).map(([name, value]) => stringify({ [root]: { [name]: value as TomlTable } }))
  if (tables.length === 0) return kept.join('')
  const block = tables
    .map((table) => `${table.trimEnd()}\n`)
    .join('\n')
    .replaceAll('\n', eol)
  const before = kept.slice(0, place ?? kept.length).join('')
  const after = kept.slice(place ?? kept.length).join('')
  return before + gap(before, eol) + block + (after === '' || /^\s*\n/.test(after) ? '' : eol) + after
}

function gap(before: string, eol: string): string {
  if (before === '') return ''
  const ended = before.endsWith('\n') ? '' : eol
  return /\n\s*\n$/.test(before) ? '' : `${ended}${eol}`
}

/** The path in a table header; undefined for any other line. */
function headerOf(line: string): readonly string[] | undefined {
  if (!/^\s*\[/.test(line)) return undefined
  try {
    const path: string[] = []
    let at: unknown = parse(line)
    while (typeof at === 'object' && at !== null) {
      const here = Array.isArray(at) ? (at[0] as object) : at
      const [name] = Object.keys(here)
      if (name === undefined) break
      path.push(name)
      at = (here as Record<string, unknown>)[name]
    }
    return path
  } catch {
    return undefined
  }
}

function printed(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
