import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../words/json.ts'
import { isJsonObject, member } from '../../words/json.ts'
import { ImportFault } from './fault.ts'
import { editJson, readJson } from './json-text.ts'
import { editToml, readToml } from './toml-text.ts'
import { editYaml, readYaml } from './yaml-text.ts'

export type Format = 'json' | 'jsonc' | 'toml' | 'yaml'

/** Entries to take out of the map under `root`, and entries to put there. */
export interface Edit {
  readonly root: string
  readonly remove: readonly string[]
  readonly put: Readonly<Record<string, JsonObject>>
}

const mark = '\uFEFF'

/** Throws an ImportFault where the text is not of its format, or holds anything but a map. */
export function readText(text: string, format: Format, file: string): JsonObject {
  const plain = text.startsWith(mark) ? text.slice(1) : text
  if (plain.trim() === '') return {}
  let value: Json
  try {
    value = format === 'toml' ? readToml(plain) : format === 'yaml' ? readYaml(plain) : readJson(plain, format)
  } catch (fault) {
    throw new ImportFault('CLIENT_FILE', `${file} cannot be read: ${(fault as Error).message}`, 'Mend the file first.')
  }
  if (isJsonObject(value)) return value
  throw new ImportFault('CLIENT_FILE', `${file} holds no map of settings`, 'Mend the file first.')
}

/** The entries under `root`; empty where there is none. */
export function entriesOf(value: JsonObject, root: string, file: string): JsonObject {
  const found = member(value, root) ?? {}
  if (isJsonObject(found)) return found
  throw new ImportFault('CLIENT_FILE', `${root} in ${file} is no map of servers`, 'Mend the file first.')
}

/**
 * The text with only those entries changed: comments, order, indentation and line ends of all else stay. What comes out
 * is read again, and anything but exactly that change is a fault.
 */
export function editText(text: string, format: Format, edit: Edit, file: string): string {
  const bom = text.startsWith(mark) ? mark : ''
  const plain = text.slice(bom.length)
  const before = readText(plain, format, file)
  const after =
    format === 'toml' ? editToml(plain, edit) : format === 'yaml' ? editYaml(plain, edit) : editJson(plain, edit)
  const kept = Object.entries(entriesOf(before, edit.root, file)).filter(([name]) => !edit.remove.includes(name))
  const wanted = { ...before, [edit.root]: { ...Object.fromEntries(kept), ...edit.put } }
  const got = safely(() => readText(after, format, file))
  const same =
    got !== undefined && isDeepStrictEqual(plainly({ ...got, [edit.root]: got[edit.root] ?? {} }), plainly(wanted))
  if (!same)
    throw new ImportFault(
      'CLIENT_FILE',
      `${file} is written in a way that cannot be changed without touching the rest of it`,
      `Write each entry of \`${edit.root}\` as a block of its own.`,
    )
  return bom + after
}

function safely<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

// Parsers differ in prototypes and in how they hold dates; what they say is what counts.
function plainly(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown
}
