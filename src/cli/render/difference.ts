import { visible } from '../../flow/tool/visible.ts'
import type { Io } from '../io.ts'

interface Row {
  readonly at: string
  readonly approved?: string
  readonly live?: string
}

/** What was approved and what the server says now, field by field, with every character that is not seen written out. */
export function differenceLines(differences: readonly Row[], io: Pick<Io, 'paint'>): string[] {
  return differences.flatMap(({ at, approved, live }) => [
    '',
    io.paint('bold', at === '' ? '(the whole)' : visible(at)),
    ...side('- ', approved, 'red', io),
    ...side('+ ', live, 'green', io),
  ])
}

function side(mark: string, text: string | undefined, color: 'red' | 'green', io: Pick<Io, 'paint'>): string[] {
  if (text === undefined) return []
  return visible(text)
    .split('\n')
    .map((line) => io.paint(color, `  ${mark}${line}`))
}
