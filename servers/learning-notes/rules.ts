import { problems } from './problem.ts'

/** All bounds of this server. Bytes are of UTF-8, characters are Unicode code points, times are in milliseconds. */
export interface Limits {
  readonly default_results: number
  readonly max_results: number
  readonly query_characters: number
  readonly default_lines: number
  readonly max_lines: number
  /** of note text in one result; the JSON around it comes on top */
  readonly result_bytes: number
  readonly file_bytes: number
  readonly path_bytes: number
  /** folders between the notes folder and a note */
  readonly folder_depth: number
  readonly files_per_search: number
  readonly entries_per_search: number
  readonly search_ms: number
  readonly read_ms: number
}

export const standardLimits: Limits = {
  default_results: 10,
  max_results: 50,
  query_characters: 200,
  default_lines: 200,
  max_lines: 1_000,
  result_bytes: 65_536,
  file_bytes: 1_048_576,
  path_bytes: 1_024,
  folder_depth: 12,
  files_per_search: 2_000,
  entries_per_search: 20_000,
  search_ms: 5_000,
  read_ms: 5_000,
}

/** What `learning://rules` shows. The folder appears by its own name only: where it lies is the operator's business. */
export function rulesOf(folder: string, limits: Limits) {
  return {
    folder,
    file_types: ['.md'],
    access: 'read only',
    paths: [
      'A path is relative to the notes folder, with / between names, exactly as search_notes gives it.',
      'Letter case counts: a name that ends in .MD is not a note.',
      'Nothing is decoded: %2e%2e is a name like any other.',
      'Refused: absolute paths, empty names, . and .., backslashes, control characters, U+FFFD, names that begin with a dot, names that end with a dot or a space.',
      'A note is known by its one real path: symbolic links are not followed even when they stay inside, and files with several hard links are refused.',
    ],
    lines: [
      'A line ends with LF or CRLF, which belongs to it; a CR alone is ordinary text.',
      'offset counts the lines before the first one wanted, so 0 is the beginning; search_notes and read_note mean the same by it.',
      'A byte order mark at the beginning is not part of the text.',
      'Text is cut between lines only: the pages of a note, put together, are the note.',
    ],
    matching:
      'The query is looked for as it is written, within a line; letter case does not count, and both sides are compared in Unicode normal form C.',
    limits,
    errors: problems,
  }
}
