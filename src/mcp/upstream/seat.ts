import type { Sending, WireOutcome } from '../../flow/receipt/receipt.ts'
import type { Permit } from '../../flow/side-effect/operation.ts'
import type { ApprovedTool } from '../../flow/tool/selected.ts'
import { canonical } from '../../words/canonical.ts'
import { type JsonObject, textMember } from '../../words/json.ts'
import type { ConnectedUpstream } from './connection.ts'
import type { ListMethod } from './upstream.ts'

/** How old the list of this very connection may be for a call with an effect, and for one without. */
const EFFECT_AGE_MS = 2_000
const READ_AGE_MS = 60_000
/** For all who wait for it, so that none of them ends it by leaving: each waits as long as it may by itself. */
const READING_MS = 60_000

/** A connection for a while. */
export interface Lent {
  readonly upstream: ConnectedUpstream
  done(): void
}

interface Heard {
  readonly at: number
  readonly items: Promise<ReadonlyMap<string, JsonObject>>
  /** Approved definitions that were compared and found to be what the server says here too. */
  readonly same: WeakSet<JsonObject>
}

/**
 * A connection that one principal has to itself. What was approved was said on another one: before a call goes out here, this
 * one has to say the same of the tool and of the server.
 */
export class Seat {
  usedAt = performance.now()
  readonly #upstream: ConnectedUpstream
  readonly #heard = new Map<ListMethod, Heard>()
  #running = 0

  /** `onDown` is called when the connection ends, or could not be made. */
  constructor(upstream: ConnectedUpstream, onDown: () => void) {
    this.#upstream = upstream
    upstream.onState(({ kind }) => {
      if (kind === 'down' || kind === 'closed') onDown()
    })
    upstream.onChanged((kind) => void this.#heard.delete(`${kind}/list`))
  }

  /** False also while an answer may still come late. */
  isIdle(now: number): boolean {
    return this.#running === 0 && this.usedAt <= now
  }

  /** `instructions` are those of the connection that was approved. */
  async send(permit: Permit, sending: Sending, instructions: string | undefined): Promise<WireOutcome> {
    const began = performance.now()
    this.#running++
    let stays = 0
    try {
      const within = AbortSignal.timeout(Math.min(sending.softDeadlineMs, 2 ** 31 - 1))
      const signal = sending.signal === undefined ? within : AbortSignal.any([within, sending.signal])
      const unfit = await unlessAborted(this.#unfit(permit.action.tool, instructions), signal)
      if (unfit !== undefined) return { kind: 'not-sent', why: unfit }
      const took = performance.now() - began
      const outcome = await this.#upstream.send(permit, {
        ...sending,
        softDeadlineMs: Math.max(1, sending.softDeadlineMs - took),
        hardDeadlineMs: Math.max(1, sending.hardDeadlineMs - took),
      })
      if (outcome.kind === 'no-answer' && outcome.why === 'deadline') stays = sending.hardDeadlineMs
      return outcome
    } finally {
      this.#running--
      this.usedAt = performance.now() + stays
    }
  }

  /** Keeps the connection from being ended as idle until it is given back. */
  async lend(): Promise<Lent> {
    this.#running++
    let over = false
    const done = (): void => {
      if (over) return
      over = true
      this.#running--
      this.usedAt = performance.now()
    }
    await this.#upstream.settled
    return { upstream: this.#upstream, done }
  }

  close(): Promise<void> {
    return this.#upstream.close()
  }

  /** Why a call of this tool may not go out here. */
  async #unfit(tool: ApprovedTool, instructions: string | undefined): Promise<string | undefined> {
    await this.#upstream.settled
    const { state } = this.#upstream
    if (state.kind !== 'ready')
      return state.kind === 'down' ? state.why : `the connection of this principal is ${state.kind}`
    if (state.negotiated.instructions !== instructions)
      return 'to this principal the server gives other instructions than those that were approved'
    if (tool.kind === 'resource') return undefined
    try {
      const heard = this.#listOf(tool)
      if (heard.same.has(tool.definition)) return undefined
      const live = (await heard.items).get(tool.name)
      if (live === undefined || canonical(live) !== canonical(tool.definition))
        return 'to this principal the server describes it otherwise than it was approved'
      heard.same.add(tool.definition)
      return undefined
    } catch (fault) {
      return `what the server says to this principal could not be read: ${fault instanceof Error ? fault.message : String(fault)}`
    }
  }

  #listOf(tool: ApprovedTool): Heard {
    const method: ListMethod = tool.kind === 'prompt' ? 'prompts/list' : 'tools/list'
    const known = this.#heard.get(method)
    const now = performance.now()
    const age = tool.profile.effect === 'read' ? READ_AGE_MS : EFFECT_AGE_MS
    if (known !== undefined && now - known.at < age) return known
    const items = this.#upstream.list(method, AbortSignal.timeout(READING_MS)).then(byName)
    const heard: Heard = { at: now, items, same: new WeakSet() }
    this.#heard.set(method, heard)
    // A reading that failed is no reading, and whoever comes next asks again.
    items.catch(() => {
      if (this.#heard.get(method) === heard) this.#heard.delete(method)
    })
    return heard
  }
}

/** A name that comes twice could be either, and so it is neither. */
function byName(items: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  const named = new Map<string, JsonObject>()
  const twice = new Set<string>()
  for (const item of items) {
    const name = textMember(item, 'name') ?? ''
    if (named.has(name)) twice.add(name)
    named.set(name, item)
  }
  for (const name of twice) named.delete(name)
  return named
}

/** Answers that it took too long, or that the caller left, without waiting for what was begun. */
function unlessAborted(work: Promise<string | undefined>, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve('the connection of this principal was not ready in time')
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
