import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { starterPolicy } from './starter.ts'

/** The starter policy beside a configuration that has none. A policy of one's own is never widened by ours. Answers with the file that was made. */
export function makePolicy(config: string): string | undefined {
  const folder = join(dirname(config), 'policy')
  if (existsSync(folder) && readdirSync(folder).length > 0) return undefined
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'local.cedar')
  writeFileSync(file, starterPolicy, { flag: 'wx' })
  return file
}
