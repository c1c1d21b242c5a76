import type { FileHandle } from 'node:fs/promises'

import { pageOf, textOf, type Page } from './lines.ts'
import { namesIn } from './path.ts'
import { type Answer, given, refused, refusedBy } from './problem.ts'
import { lookAt, openNote, type Root } from './root.ts'
import type { Limits } from './rules.ts'

export interface ReadRequest {
  readonly path: string
  readonly offset: number
  readonly limit: number
}

/** `offset` and `limit` are those of the request; `next_offset` is there when `more` is true, and continues without gap or overlap. */
export interface NotePage extends Page, ReadRequest {
  readonly more: boolean
  readonly next_offset?: number
}

/** Throws the reason of `signal` when that is aborted; a passed `deadline` is the problem `timed_out`. */
export async function readNote(
  root: Root,
  request: ReadRequest,
  limits: Limits,
  signal: AbortSignal,
  deadline: AbortSignal = AbortSignal.timeout(limits.read_ms),
): Promise<Answer<NotePage>> {
  const names = namesIn(request.path, limits)
  if (!names.ok) return names
  const seen = await lookAt(root, names.value)
  if (!seen.ok) return seen
  const text = await textAt(root, names.value, limits, AbortSignal.any([signal, deadline])).catch((fault: unknown) => {
    if (deadline.aborted && !signal.aborted) return refused('timed_out', `It may take ${limits.read_ms} ms.`)
    throw fault
  })
  if (!text.ok) return text
  const { path, offset, limit } = request
  const page = pageOf(text.value, offset, limit, limits.result_bytes)
  if (!page.ok) return page
  const more = page.value.stopped_by !== 'end'
  return given({
    path,
    offset,
    limit,
    ...page.value,
    more,
    ...(more && { next_offset: offset + page.value.returned_lines }),
  })
}

/** The whole text of one note. This is the only place where note bytes are read. */
export async function textAt(
  root: Root,
  names: readonly string[],
  limits: Limits,
  signal: AbortSignal,
): Promise<Answer<string>> {
  const opened = await openNote(root, names)
  if (!opened.ok) return opened
  await using handle = opened.value.handle
  if (opened.value.bytes > limits.file_bytes) return tooLarge(limits)
  try {
    const bytes = await bytesOf(handle, limits, signal)
    return bytes.ok ? textOf(bytes.value) : bytes
  } catch (fault) {
    return refusedBy(fault)
  }
}

const chunkBytes = 65_536

async function bytesOf(handle: FileHandle, limits: Limits, signal: AbortSignal): Promise<Answer<Buffer>> {
  const parts: Buffer[] = []
  let total = 0
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null)
    if (bytesRead === 0) return given(Buffer.concat(parts))
    total += bytesRead
    // The file may grow while it is read, and some file systems report a size of 0: count what really comes.
    if (total > limits.file_bytes) return tooLarge(limits)
    parts.push(buffer.subarray(0, bytesRead))
  }
}

function tooLarge(limits: Limits) {
  return refused('too_large', `It may have at most ${limits.file_bytes} bytes.`)
}
