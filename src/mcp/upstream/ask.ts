import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import type { JsonObject } from '../../words/json.ts'
import { metaText, withMeta } from '../wire/envelope.ts'
import { headerNames, headerValue, namedBy } from '../wire/headers.ts'
import { notificationText, requestText } from '../wire/jsonrpc.ts'
import { eraOf, type Revision } from '../wire/revisions.ts'
import type { Ended, Link } from './link.ts'

/** One request of our own to a server: everything but a governed call. */
export interface Question {
  readonly method: string
  readonly params: JsonObject
  /** Undefined only for `initialize`, which has to come before a revision is agreed. */
  readonly revision: Revision | undefined
  /** Told of the request's id, by which a server names a subscription. */
  readonly numbered?: (id: number) => void
}

/** Asks once. The signal ends the waiting: `deadline` where it is a timeout, `caller-left` otherwise. Never rejects. */
export function ask(link: Link, question: Question, signal: AbortSignal): Promise<Ended> {
  const { method, params, revision } = question
  const members = JSON.stringify(params)
  const id = link.nextId()
  question.numbered?.(id)
  const text = requestText(id, method, revision === undefined ? members : withMeta(members, metaText(revision)))
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ outcome: { kind: 'not-sent', why: 'nobody waits for it any more' } })
      return
    }
    const onAbort = (): void => {
      const unsent = !leg.sent
      leg.drop()
      resolve({ outcome: unsent ? { kind: 'not-sent', why: 'it waited too long to be sent' } : givenUp(signal) })
      // A server that was silent to the first question may not know what a notification is before it is initialized.
      if (!unsent && revision !== undefined && method !== 'server/discover') cancel(link, id, revision)
    }
    const leg = link.open({
      id,
      method,
      text,
      headers: revision === undefined ? [] : nameHeaders(revision, method, params),
      end: (ended) => {
        signal.removeEventListener('abort', onAbort)
        resolve(ended)
      },
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Tells the server that an answer is not wanted. On modern HTTP the end of the stream says so, and nothing is to be posted. */
export function cancel(link: Link, id: number, revision: Revision): void {
  if (link.transport === 'http' && eraOf(revision) === 'modern') return
  void link.post(notificationText('notifications/cancelled', withMeta(`{"requestId":${id}}`, metaText(revision))))
}

/** `Mcp-Method` and `Mcp-Name`, which modern HTTP wants of every request. */
export function nameHeaders(revision: Revision, method: string, params: JsonObject): string[] {
  if (eraOf(revision) === 'legacy') return []
  const name = namedBy(method, params)
  return name === undefined
    ? [headerNames.method, method]
    : [headerNames.method, method, headerNames.name, headerValue(name)]
}

export function givenUp(signal: AbortSignal): WireOutcome {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
    ? { kind: 'no-answer', why: 'deadline', detail: 'no answer in time' }
    : { kind: 'no-answer', why: 'caller-left', detail: 'nobody waited for the answer' }
}
