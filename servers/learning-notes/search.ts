import { linesOf, withoutEnding } from './lines.ts'
import type { ProblemCode } from './problem.ts'
import { textAt } from './read.ts'
import type { Root } from './root.ts'
import type { Limits } from './rules.ts'
import { walk } from './walk.ts'

export interface SearchRequest {
  readonly query: string
  readonly max_results: number
}

/** A line that holds the query; `path` and `offset` are what read_note takes. `text` is left out where it alone exceeds a result. */
export interface Match {
  readonly path: string
  readonly offset: number
  readonly text?: string
}

/** `query` and `max_results` are those of the request. `skipped` counts what was passed over, by problem code. */
export interface Found extends SearchRequest {
  readonly matches: readonly Match[]
  readonly more: boolean
  readonly stopped_by: 'end' | 'max_results' | 'bytes' | 'files' | 'entries' | 'time'
  readonly files_searched: number
  readonly skipped: Readonly<Partial<Record<ProblemCode, number>>>
}

/**
 * Matches in the order of paths, then of lines. Running out of files, entries, bytes or time is an answer that says so.
 * Throws the reason of `signal` when that is aborted.
 */
export async function searchNotes(
  root: Root,
  request: SearchRequest,
  limits: Limits,
  signal: AbortSignal,
  deadline: AbortSignal = AbortSignal.timeout(limits.search_ms),
): Promise<Found> {
  const either = AbortSignal.any([signal, deadline])
  const query = folded(request.query)
  const matches: Match[] = []
  const skipped: Partial<Record<ProblemCode, number>> = {}
  let searched = 0
  let room = limits.result_bytes

  const pass = (code: ProblemCode) => (skipped[code] = (skipped[code] ?? 0) + 1)
  const stop = (by: Found['stopped_by']): Found => {
    const { query, max_results } = request
    return { query, max_results, matches, more: by !== 'end', stopped_by: by, files_searched: searched, skipped }
  }

  try {
    for await (const met of walk(root, limits, either)) {
      if (met.kind === 'stopped') return stop('entries')
      if (met.kind === 'skipped') {
        pass(met.code)
        continue
      }
      if (searched === limits.files_per_search) return stop('files')
      const text = await textAt(root, met.names, limits, either)
      if (!text.ok) {
        pass(text.problem.code)
        continue
      }
      searched += 1
      for (const match of matchesIn(met.names.join('/'), text.value, query, limits)) {
        if (matches.length === request.max_results) return stop('max_results')
        room -= Buffer.byteLength(match.path) + Buffer.byteLength(match.text ?? '')
        if (room < 0) return stop('bytes')
        matches.push(match)
      }
    }
    return stop('end')
  } catch (fault) {
    if (deadline.aborted && !signal.aborted) return stop('time')
    throw fault
  }
}

function* matchesIn(path: string, text: string, query: string, limits: Limits): Generator<Match> {
  // Most notes hold no match, and one look at the whole note is cheaper than one at each line.
  if (!folded(text).includes(query)) return
  for (const [offset, ended] of linesOf(text).entries()) {
    const line = withoutEnding(ended)
    if (!folded(line).includes(query)) continue
    const fits = Buffer.byteLength(path) + Buffer.byteLength(line) <= limits.result_bytes
    yield fits ? { path, offset, text: line } : { path, offset }
  }
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
