import { type JsonObject, isJsonObject } from '../../words/json.ts'

/** A name for a server of ours, as near to the client's as the rules for names let it be. */
export function serverNameFor(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^[-_]+|[-_]+$/g, '')
    .slice(0, 36)
    .replaceAll(/[-_]+$/g, '')
  const base = plain === '' || plain === 'countersign' ? 'server' : plain
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? base : `${base}-${n}`
    if (!taken.has(candidate)) return candidate
  }
}

/** The same program, or the same URL, with the same names of variables or headers? */
export function isSameServer(one: JsonObject, other: JsonObject): boolean {
  return identity(one) === identity(other)
}

function identity({ command, args, cwd, url, env, headers }: JsonObject): string {
  const names = (map: unknown): string[] => (isJsonObject(map) ? Object.keys(map).toSorted() : [])
  return JSON.stringify([command, args ?? [], cwd ?? '.', url, names(env), names(headers)])
}
