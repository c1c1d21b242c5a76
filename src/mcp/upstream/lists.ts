import { isJsonObject, member, type JsonObject } from '../../words/json.ts'
import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import type { ListMethod } from './upstream.ts'

export type ListFaultReason =
  /** The upstream is not connected. */
  | 'down'
  /** It answered with an error. */
  | 'error'
  /** It did not answer, or not with a list. */
  | 'no-answer'
  /** It gave a cursor that it had given before: there would be no end. */
  | 'repeated-cursor'
  /** Page after page brings nothing that was not there before. */
  | 'no-progress'
  | 'too-many-pages'
  | 'too-many-items'
  | 'too-many-bytes'

export class ListFault extends Error {
  override readonly name = 'ListFault'
  readonly reason: ListFaultReason
  /** Present where the list has no end that we would wait for: what came before it was cut. */
  readonly before: readonly JsonObject[] | undefined

  constructor(reason: ListFaultReason, message: string, before?: readonly JsonObject[]) {
    super(message)
    this.reason = reason
    this.before = before
  }
}

export interface ListLimits {
  readonly pages: number
  readonly items: number
  readonly bytes: number
}

/** An empty page may come now and then, where a server filters what it lists. */
const MOST_IDLE_PAGES = 20

const listLimits: ListLimits = { pages: 1000, items: 20_000, bytes: 64 * 1024 * 1024 }

/** Where the items stand in the result of each list, and the capability without which there is nothing to ask for. */
export const lists: Record<ListMethod, { readonly key: string; readonly capability: string }> = {
  'tools/list': { key: 'tools', capability: 'tools' },
  'prompts/list': { key: 'prompts', capability: 'prompts' },
  'resources/list': { key: 'resources', capability: 'resources' },
  'resources/templates/list': { key: 'resourceTemplates', capability: 'resources' },
}

/** Reads a list page by page to its end. `page` asks for one page. Throws ListFault. */
export async function readPages(
  method: ListMethod,
  page: (params: JsonObject) => Promise<WireOutcome>,
  limits: ListLimits = listLimits,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = []
  const cursors = new Set<string>()
  const cut = (reason: ListFaultReason, why: string): ListFault => new ListFault(reason, `${method}: ${why}`, items)
  const seen = new Set<unknown>()
  let bytes = 0
  let idle = 0
  let cursor: string | undefined
  for (let pages = 1; ; pages++) {
    const outcome = await page(cursor === undefined ? {} : { cursor })
    const { value, length } = pageOf(method, outcome)
    bytes += length
    const found = member(value, lists[method].key)
    if (!Array.isArray(found)) throw new ListFault('no-answer', `the answer to ${method} has no list`)
    // What is not even an object can be neither shown nor called; the rest of the list is not to blame for it.
    const known = seen.size
    for (const item of found as readonly unknown[]) {
      if (!isJsonObject(item)) continue
      if (items.length >= limits.items) throw cut('too-many-items', `more than ${limits.items} items`)
      items.push(item)
      seen.add(member(item, 'uriTemplate') ?? member(item, 'uri') ?? member(item, 'name'))
    }
    idle = seen.size === known ? idle + 1 : 0
    if (bytes > limits.bytes) throw cut('too-many-bytes', `more than ${limits.bytes} bytes`)
    const next = member(value, 'nextCursor')
    // An empty text is a cursor like any other; only a missing one ends the list (2025-11-25 and later, "Pagination").
    if (next === undefined || next === null) return items
    if (typeof next !== 'string') throw new ListFault('no-answer', `${method}: the cursor is not text`)
    if (cursors.has(next)) throw cut('repeated-cursor', 'a cursor came twice')
    if (pages >= limits.pages) throw cut('too-many-pages', `more than ${limits.pages} pages`)
    if (idle >= MOST_IDLE_PAGES) throw cut('no-progress', `${idle} pages in a row with nothing new`)
    cursors.add(next)
    cursor = next
  }
}

function pageOf(method: ListMethod, outcome: WireOutcome): { readonly value: JsonObject; readonly length: number } {
  switch (outcome.kind) {
    case 'reply':
      return { value: outcome.value, length: outcome.bytes.length }
    case 'error':
      throw new ListFault('error', `${method}: the server answered with the error ${outcome.code}`)
    case 'not-sent':
      throw new ListFault('down', `${method}: ${outcome.why}`)
    case 'no-answer':
      throw new ListFault('no-answer', `${method}: ${outcome.detail}`)
    default:
      return outcome satisfies never
  }
}
