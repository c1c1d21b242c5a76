import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Json } from '../words/json.ts'
import { type Path, readDocument } from './document.ts'
import type { Environment } from './interpolate.ts'
import { namesSecret } from './interpolate.ts'
import { loadConfig } from './load.ts'
import { configSchema } from './schema.ts'

export interface Origin {
  /** Dotted. */
  readonly key: string
  /** As text; secrets left out. */
  readonly value: string
  readonly from: 'file' | 'environment' | 'default'
  readonly line?: number
}

/** Every value that holds, with where it comes from. Throws ConfigFault where the file cannot be used. */
export function originsOf(file: string, environment: Environment): readonly Origin[] {
  loadConfig(file, environment)
  const document = readDocument(file, readFileSync(file, 'utf8'), { ...environment, CONFIG_FOLDER: dirname(file) })
  const whole = configSchema.parse(document.value ?? {})
  return [...leaves(whole, [])].map(([path, value]): Origin => {
    const key = path.join('.')
    const shown = isSecret(path) ? '…' : String(value)
    if (!stands(document.value, path)) return { key, value: shown, from: 'default' }
    const { line } = document.problem(path, '')
    return { key, value: shown, from: document.filled(path) ? 'environment' : 'file', line }
  })
}

function* leaves(value: unknown, path: Path): Generator<readonly [Path, unknown]> {
  if (typeof value !== 'object' || value === null) yield [path, value]
  else if (Object.keys(value).length === 0) yield [path, Array.isArray(value) ? '[]' : '{}']
  else
    for (const [key, part] of Object.entries(value))
      yield* leaves(part, [...path, Array.isArray(value) ? Number(key) : key])
}

function stands(value: Json, path: Path): boolean {
  let at: unknown = value
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return false
    at = (at as Readonly<Record<string | number, unknown>>)[part]
  }
  return true
}

function isSecret(path: Path): boolean {
  const last = String(path.at(-1))
  return (
    path.includes('headers') ||
    (path.includes('env') && path[0] === 'servers') ||
    (namesSecret(last) && last !== 'tokenFile')
  )
}
