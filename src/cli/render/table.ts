import type { Io } from '../io.ts'
import { fit, padEnd, plain, widthOf } from './width.ts'

/** Rows under headings, in columns. The last column gives way where the terminal is too narrow. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  io: Pick<Io, 'columns' | 'paint'>,
): string[] {
  const cells = rows.map((row) => row.map(plain))
  const widths = headings.map((heading, n) => Math.max(widthOf(heading), ...cells.map((row) => widthOf(row[n] ?? ''))))
  const taken = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  const room = Math.max(10, io.columns - taken)
  const line = (row: readonly string[]) =>
    row
      .map((cell, n) => (n === headings.length - 1 ? fit(cell, room) : padEnd(cell, widths[n]!)))
      .join('  ')
      .trimEnd()
  return [io.paint('bold', line(headings)), ...cells.map(line)]
}

/** Names and values, one to a line. */
export function fieldLines(
  fields: Readonly<Record<string, string | number | boolean | undefined>>,
  io: Pick<Io, 'paint'>,
): string[] {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  const widest = Math.max(0, ...given.map(([name]) => widthOf(name)))
  return given.map(([name, value]) => `${io.paint('dim', padEnd(name, widest))}  ${plain(String(value))}`)
}
