/** Every way in which a call can go wrong, with the sentence that the caller reads. `learning://rules` publishes this table. */
export const problems = {
  argument_invalid: 'The arguments do not fit the contract of the tool.',
  path_invalid: 'The path cannot name a note.',
  wrong_type: 'Only Markdown notes, whose names end in .md in lower case, can be read.',
  not_found: 'There is no note at this path.',
  is_directory: 'This path is a folder and not a note.',
  not_regular: 'This path is a device, pipe or socket and not a note.',
  link_refused: 'This path leads through a symbolic link, and links are not followed.',
  hard_link_refused: 'This file has more than one name (a hard link), so it may belong outside the notes folder.',
  unreadable: 'The operating system does not permit reading this.',
  too_large: 'The note is larger than the limit.',
  too_deep: 'The folder lies deeper than the limit.',
  not_utf8: 'The note is not valid UTF-8 text.',
  line_too_long: 'The next line alone is larger than a result may be, and lines are never cut.',
  moved: 'What lies at this path is not, or is no longer, a file of exactly this name.',
  read_failed: 'The file system failed while reading.',
  timed_out: 'Reading took longer than the limit.',
  cancelled: 'The call was cancelled.',
} as const

export type ProblemCode = keyof typeof problems

/** `say` is the whole sentence for the caller. It never holds an absolute path or text from outside the notes folder. */
export interface Problem {
  readonly code: ProblemCode
  readonly say: string
}

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: Problem }

export function given<Value>(value: Value): Answer<Value> {
  return { ok: true, value }
}

/** @param detail a further sentence, made from limits and rules only */
export function refused(code: ProblemCode, detail?: string): { readonly ok: false; readonly problem: Problem } {
  return {
    ok: false,
    problem: { code, say: detail === undefined ? problems[code] : `${problems[code]} ${detail}` },
  }
}

const byErrno: Readonly<Record<string, ProblemCode>> = {
  ENOENT: 'not_found',
  ENOTDIR: 'not_found',
  ENAMETOOLONG: 'not_found',
  ELOOP: 'link_refused',
  EACCES: 'unreadable',
  EPERM: 'unreadable',
  ENXIO: 'not_regular',
  ENODEV: 'not_regular',
}

/** Turns a fault of the file system into an answer. The fault's own message holds absolute paths, so only its code is kept. */
export function refusedBy(fault: unknown): { readonly ok: false; readonly problem: Problem } {
  const errno = fault instanceof Error && 'code' in fault ? fault.code : undefined
  if (typeof errno !== 'string' || !/^E[A-Z0-9]+$/.test(errno)) throw fault
  return refused(byErrno[errno] ?? 'read_failed')
}
