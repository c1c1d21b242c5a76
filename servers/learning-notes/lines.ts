import { type Answer, given, refused } from './problem.ts'

/** Decodes a whole note. A byte order mark at the beginning is left out. Problems: `not_utf8`. */
export function textOf(bytes: Uint8Array): Answer<string> {
  try {
    return given(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return refused('not_utf8')
  }
}

/** The lines of a text, each with the LF or CRLF that ends it, so that joining them gives the text back. */
export function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  let start = 0
  while (start < text.length) {
    const feed = text.indexOf('\n', start)
    const end = feed === -1 ? text.length : feed + 1
    lines.push(text.slice(start, end))
    start = end
  }
  return lines
}

export function withoutEnding(line: string): string {
  if (line.endsWith('\r\n')) return line.slice(0, -2)
  return line.endsWith('\n') ? line.slice(0, -1) : line
}

/** `end`: the text ends with this page. `limit`: the asked number of lines is reached. `bytes`: the next line would not fit. */
export interface Page {
  readonly text: string
  readonly returned_lines: number
  readonly total_lines: number
  readonly stopped_by: 'end' | 'limit' | 'bytes'
}

/**
 * At most `limit` lines after the first `offset` lines, whole ones only, `maxBytes` of UTF-8 in all.
 * An offset at or behind the end gives no lines. Problems: `line_too_long`.
 */
export function pageOf(text: string, offset: number, limit: number, maxBytes: number): Answer<Page> {
  const lines = linesOf(text)
  const wanted = lines.slice(offset, offset + limit)
  let bytes = 0
  let returned = 0
  for (const line of wanted) {
    bytes += Buffer.byteLength(line)
    if (bytes > maxBytes) break
    returned += 1
  }
  if (returned === 0 && wanted.length > 0)
    return refused(
      'line_too_long',
      `Line at offset ${offset} is longer than ${maxBytes} bytes; go on at offset ${offset + 1}.`,
    )
  const atEnd = offset + returned >= lines.length
  return given({
    text: wanted.slice(0, returned).join(''),
    returned_lines: returned,
    total_lines: lines.length,
    stopped_by: atEnd ? 'end' : returned < wanted.length ? 'bytes' : 'limit',
  })
}
