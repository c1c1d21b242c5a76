import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { incoherences } from './coherence.ts'
import type { Config } from './config.ts'
import { readDocument } from './document.ts'
import { explain } from './explain.ts'
import { ConfigFault } from './fault.ts'
import type { Environment } from './interpolate.ts'
import { resolveConfig } from './resolve.ts'
import { configSchema } from './schema.ts'

const mostBytes = 4 * 1024 * 1024

/** Reads, checks and resolves a configuration file. Throws ConfigFault with every problem found, in the file's order. */
export function loadConfig(file: string, environment: Environment = process.env): Config {
  const path = resolve(file)
  return parseConfig(path, textOf(path), environment)
}

/** The same for text that is at hand. Relative paths start from the folder of `file`, which is absolute. */
export function parseConfig(file: string, text: string, environment: Environment): Config {
  const document = readDocument(file, text, { ...environment, CONFIG_FOLDER: dirname(file) })
  const parsed = configSchema.safeParse(document.value ?? {})
  const problems = parsed.success
    ? incoherences(parsed.data, document)
    : explain(parsed.error.issues, configSchema, document)
  if (!parsed.success || problems.length > 0)
    throw new ConfigFault(
      'CONFIG_INVALID',
      file,
      problems.toSorted((a, b) => a.line - b.line || a.column - b.column),
    )
  return resolveConfig(file, parsed.data, document)
}

function textOf(path: string): string {
  try {
    if (statSync(path).size > mostBytes)
      throw new ConfigFault('CONFIG_INVALID', path, [], `${path} is larger than a configuration may be`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (fault) {
    if (fault instanceof ConfigFault) throw fault
    if (fault instanceof TypeError) throw new ConfigFault('CONFIG_INVALID', path, [], `${path} is not UTF-8`)
    const why = (fault as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (fault as Error).message
    throw new ConfigFault('CONFIG_MISSING', path, [], `${path}: ${why}`)
  }
}
