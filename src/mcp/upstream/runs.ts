import { type LogLevel, type LogRelay, type Sending, logLevels } from '../../flow/receipt/receipt.ts'
import type { Permit } from '../../flow/side-effect/operation.ts'
import { isJsonObject, member, type JsonObject } from '../../words/json.ts'
import { eraOf } from '../wire/revisions.ts'
import { ask } from './ask.ts'
import type { Link } from './link.ts'
import type { Negotiated } from './upstream.ts'

interface Run {
  /** Tenant and principal: what is said about one owner's calls is never told to another's. */
  readonly tenant: string
  readonly principal: string
  readonly sending: Sending
}

/** How long a server may take to be told how talkative to be. */
const TURN_UP_MS = 2_000
/** Servers that were told nothing decide by themselves; most say what is at least of interest. */
const UNSAID: LogLevel = 'info'

/** The calls that are under way on one link, and what the server says about them before it answers. */
export class Runs {
  readonly #running = new Map<number, Run>()
  #era: 'legacy' | 'modern' = 'legacy'
  #negotiated: Negotiated | undefined
  #logs = false
  /** Legacy: the level that the whole link was set to. */
  #level: LogLevel = UNSAID

  agreed(negotiated: Negotiated): void {
    this.#negotiated = negotiated
    this.#era = eraOf(negotiated.revision)
    this.#logs = isJsonObject(member(negotiated.capabilities, 'logging'))
  }

  began(id: number, { action: { principal } }: Permit, sending: Sending): void {
    this.#running.set(id, { tenant: principal.tenant, principal: principal.id, sending })
  }

  ended(id: number): void {
    this.#running.delete(id)
  }

  /** What one modern request has to say of logs. */
  levelFor(relay: LogRelay | undefined): LogLevel | undefined {
    return this.#era === 'modern' && this.#logs ? relay?.level : undefined
  }

  /** Does somebody want to hear more than the link was told to say? Legacy only: there the level is the connection's. */
  mustTurnUp(level: LogLevel): boolean {
    return this.#era === 'legacy' && this.#logs && rank(level) < rank(this.#level)
  }

  /** Turned up for the one who asks; everybody else's messages are sifted here. Never down again: others may still listen. */
  async turnUp(link: Link, level: LogLevel): Promise<void> {
    this.#level = level
    const question = { method: 'logging/setLevel', params: { level }, revision: this.#negotiated?.revision }
    await ask(link, question, AbortSignal.timeout(TURN_UP_MS))
  }

  progressed(params: JsonObject): void {
    const token = member(params, 'progressToken')
    if (typeof token === 'number') this.#running.get(token)?.sending.onProgress?.(params)
  }

  logged(params: JsonObject, leg: number | undefined): void {
    const level = member(params, 'level')
    if (!logLevels.includes(level as LogLevel)) return
    const relay = this.#hearer(leg)?.sending.logs
    if (relay !== undefined && rank(level as LogLevel) >= rank(relay.level)) relay.hear(params)
  }

  // On a pipe nothing says which call a message is about. It is told only where all that run are one owner's.
  #hearer(leg: number | undefined): Run | undefined {
    if (leg !== undefined && this.#running.has(leg)) return this.#running.get(leg)
    let hearer: Run | undefined
    let owner: Run | undefined
    for (const run of this.#running.values()) {
      owner ??= run
      if (run.principal !== owner.principal || run.tenant !== owner.tenant) return undefined
      if (run.sending.logs === undefined) continue
      // In the modern era only the request that asked may hear it, and two of them cannot be told apart.
      if (hearer !== undefined && this.#era === 'modern') return undefined
      hearer ??= run
    }
    return hearer
  }
}

function rank(level: LogLevel): number {
  return logLevels.indexOf(level)
}
