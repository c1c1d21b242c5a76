import { realpathSync } from 'node:fs'
import { relative, isAbsolute, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isJsonObject, member, textMember, type Json, type JsonObject } from '../../words/json.ts'

/**
 * Of the roots that a client names, what lies inside the folders that were granted: a root inside one of them as it is, and of
 * a root around one of them that folder. What is no file, or is not there, is left out. It tells a server where to look, and
 * keeps it from nothing: a server that wants to look elsewhere is held back by its sandbox or by nobody.
 */
export function narrowedRoots(answer: JsonObject, granted: readonly string[]): JsonObject {
  const roots = member(answer, 'roots')
  const kept = new Map<string, JsonObject>()
  for (const root of Array.isArray(roots) ? (roots as readonly Json[]) : []) {
    if (!isJsonObject(root)) continue
    const path = pathOf(textMember(root, 'uri'))
    if (path === undefined) continue
    const name = textMember(root, 'name')
    const named = name === undefined ? {} : { name }
    for (const folder of granted) {
      const real = realOf(folder)
      if (real === undefined) continue
      const narrower = contains(real, path) ? path : contains(path, real) ? real : undefined
      if (narrower === undefined) continue
      const uri = pathToFileURL(narrower).href
      kept.set(uri, { uri, ...named })
    }
  }
  return { roots: [...kept.values()] }
}

function pathOf(uri: string | undefined): string | undefined {
  if (uri === undefined || !uri.startsWith('file:')) return undefined
  try {
    return realOf(fileURLToPath(uri))
  } catch {
    return undefined
  }
}

// A link is followed before it is measured: what it is called says nothing about where it leads.
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

function contains(outer: string, inner: string): boolean {
  const way = relative(outer, inner)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
