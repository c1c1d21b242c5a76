import { type JsonObject, isJsonObject, textMember } from '../../words/json.ts'
import type { Format } from './format.ts'
import type { Syntax } from './syntax.ts'

/** Where the client runs. */
export interface Surroundings {
  readonly userHome: string
  readonly folder: string
  readonly platform: NodeJS.Platform
  readonly environment: { readonly [name: string]: string | undefined }
}

/** An entry of the client's file as the client understands it; its texts are still in the client's own syntax. */
export interface Entry {
  readonly command?: string
  readonly args?: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Names of variables that the client hands on from its own environment. */
  readonly envNames?: readonly string[]
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  /** By the name of the header, the variable that holds its value, and what stands before it. */
  readonly envHeaders?: Readonly<Record<string, { readonly before: string; readonly name: string }>>
}

/** Why an entry stays where it is, in words. */
export class Left {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** How one client keeps its MCP servers. */
export interface Client {
  readonly name: string
  readonly title: string
  readonly format: Format
  /** The key under which the servers stand, by name. */
  readonly root: string
  /** Keys of other clients; a file that has one of them and not ours is the wrong file, or written for another. */
  readonly otherRoots: readonly string[]
  readonly syntax: Syntax
  /** Where its file may lie. The first that is there is taken, else the last is made. */
  files(here: Surroundings): readonly string[]
  /** Folder that relative commands start from. */
  base(file: string, here: Surroundings): string
  read(entry: JsonObject): Entry | Left
  /** The entry that starts us. */
  endpoint(command: string, args: readonly string[]): JsonObject
}

/** `command`, `args`, `env`, `cwd`, as most clients write them. */
export function program(entry: JsonObject): Entry | Left {
  const command = textMember(entry, 'command')
  if (command === undefined || command === '') return new Left('it has neither a command nor a URL')
  const args = entry['args'] ?? []
  if (!isTexts(args)) return new Left('`args` is not a list of texts')
  const env = textsOf(entry['env'])
  if (env === undefined) return new Left('`env` is not a map of names to texts')
  if (entry['envFile'] !== undefined) return new Left('it reads an `envFile`; name its variables under `env`')
  const cwd = textMember(entry, 'cwd')
  return { command, args, env, ...(cwd === undefined ? {} : { cwd }) }
}

export function remote(url: string, headers: unknown): Entry | Left {
  if (!/^https?:\/\//.test(url)) return new Left('its URL is neither http:// nor https://')
  const named = textsOf(headers)
  return named === undefined ? new Left('`headers` is not a map of names to texts') : { url, headers: named }
}

/** A program where there is a `command`, else what is behind `url`. */
export function commandOrUrl(entry: JsonObject): Entry | Left {
  if (entry['disabled'] === true || entry['enabled'] === false) return new Left('it is switched off')
  const url = textMember(entry, 'url')
  if (textMember(entry, 'command') !== undefined && url !== undefined)
    return new Left('it has both a command and a URL')
  return url === undefined ? program(entry) : remote(url, entry['headers'])
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((it) => typeof it === 'string')
}

export function textsOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) return undefined
  const entries = Object.entries(value).map(
    ([name, it]) => [name, typeof it === 'number' || typeof it === 'boolean' ? String(it) : it] as const,
  )
  if (!entries.every((it): it is readonly [string, string] => typeof it[1] === 'string')) return undefined
  return Object.fromEntries(entries)
}

export function plainEndpoint(command: string, args: readonly string[]): JsonObject {
  return { command, args: [...args] }
}
