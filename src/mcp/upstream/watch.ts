import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject, member, type JsonObject } from '../../words/json.ts'
import type { ModernRevision } from '../wire/revisions.ts'
import { ask } from './ask.ts'
import { listKinds } from './changes.ts'
import type { Link } from './link.ts'
import { Pauses, type PauseRange } from './pauses.ts'

/** The lists of which the server says that it will tell when they change. */
export function announced(capabilities: JsonObject): (typeof listKinds)[number][] {
  return listKinds.filter((kind) => {
    const capability = member(capabilities, kind)
    return isJsonObject(capability) && member(capability, 'listChanged') === true
  })
}

/**
 * Keeps a `subscriptions/listen` open (2026-07-28, "Subscriptions"): opens it again, with growing pauses, whenever it ends, and
 * each time says that a change may have been missed. Gives up where the server answers that it knows no such thing.
 */
export async function keepListening(
  link: Link,
  revision: ModernRevision,
  capabilities: JsonObject,
  missed: () => void,
  signal: AbortSignal,
  range?: PauseRange,
): Promise<void> {
  const notifications = Object.fromEntries(announced(capabilities).map((kind) => [`${kind}ListChanged`, true]))
  if (Object.keys(notifications).length === 0) return
  const pauses = new Pauses(range)
  for (let first = true; !signal.aborted; first = false) {
    const began = performance.now()
    const listening = ask(link, { method: 'subscriptions/listen', params: { notifications }, revision }, signal)
    if (!first) missed()
    const { outcome } = await listening
    if (outcome.kind === 'error') return
    await sleep(pauses.after(performance.now() - began), undefined, { signal, ref: false }).catch(() => {})
  }
}
