import type { JsonObject } from '../../words/json.ts'
import { adaptersOf, lookBy, onBehalfOf, type TaskPolls } from './look.ts'
import type { OnBehalf, ReadBacks } from './read-back.ts'
import type { Adapter, ToolProfile } from '../tool/profile.ts'
import type { Ledger, OperationRow, Reconciled } from '../side-effect/ledger.ts'
import type { Permit } from '../side-effect/operation.ts'
import type { WireOutcome } from './receipt.ts'
import { receiptOf } from './reference.ts'

export interface ReconcileNeeds {
  readonly ledger: Ledger
  readonly readBacks: ReadBacks
  /** The profile that holds now for `server/tool`. */
  readonly profileOf: (tool: string) => ToolProfile
  readonly now: () => number
  readonly tasks?: TaskPolls
  /** It has been found that there was an effect: does the world look as it should? */
  readonly found?: (row: OperationRow, onBehalf: OnBehalf, signal: AbortSignal) => Promise<void>
}

const PAUSES_MS = [1_000, 5_000, 15_000, 60_000, 300_000, 900_000]
const GIVE_UP_AFTER_MS = 24 * 3_600_000
const TICK_MS = 500
const AT_ONCE = 4
const PER_SERVER = 2
const SWEEP_MS = 60_000
/** What had no effect may be proposed again as the same intention for so long; afterwards it is over. */
const TAKE_UP_WITHIN_MS = 24 * 3_600_000

/** What is known of an operation's look-ups so far; lost with the process, which only makes it look again. */
interface Look {
  tries: number
  noes: number
  lastNo: number
  /** It was taken back: it cannot take effect any more. */
  never: boolean
}

/**
 * Ends what is unknown: by an answer that comes late, or by looking at the world through the read-back that the profile
 * names. Yes needs evidence that fits this call; no needs in addition that the call cannot still take effect. Whatever is
 * neither stays unknown, and after a day is held for a person.
 */
export class Reconciler {
  readonly #needs: ReconcileNeeds
  readonly #looks = new Map<string, Look>()
  /** Operation, and the server that it is at. */
  readonly #running = new Map<string, string>()
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #swept = 0

  constructor(needs: ReconcileNeeds) {
    this.#needs = needs
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#stop.abort()
  }

  /** A new unknown: put on the list if there is a way to find out. */
  async opened(operation: string): Promise<void> {
    const row = this.#needs.ledger.find(operation)
    if (row === undefined || adaptersOf(this.#needs.profileOf(row.tool)).length === 0) return
    await this.#needs.ledger.schedule(operation, this.#needs.now())
  }

  /** The cheapest evidence of all: the answer itself, after everybody had stopped waiting. */
  async late({ operation, action }: Permit, late: WireOutcome): Promise<void> {
    const state = this.#needs.ledger.find(operation)?.state
    // Dispatched still: the deadline fired in this very turn, and its record waits in the queue, before the one made here.
    if (state !== 'dispatched' && state !== 'unknown' && state !== 'held') return
    if (late.kind !== 'reply' || late.value['isError'] === true) return
    const at = action.tool.profile.receipt?.at
    const ref = at === undefined ? undefined : receiptOf(late.value, at)
    const evidence = { bytes: late.bytes.length }
    await this.#needs.ledger.reconcile(operation, {
      to: 'reconciled_effect',
      method: 'late reply',
      by: 'countersign',
      evidence,
      result: late.bytes,
      ...(ref === undefined ? {} : { receiptRef: ref }),
    })
    const row = this.#needs.ledger.find(operation)
    if (row?.state === 'reconciled_effect')
      await this.#needs.found?.(row, onBehalfOf(row, this.#needs.ledger), this.#stop.signal)
    await this.#needs.ledger.finishCompensation(operation)
  }

  /** A server is there again: what is unknown of its calls is looked for now, and not when the pause is over. */
  async woken(server: string): Promise<void> {
    await this.#needs.ledger.wake(server, this.#needs.now())
  }

  /** Looks now, whatever the schedule says. Resolves with the row as it is afterwards. */
  async look(operation: string): Promise<OperationRow | undefined> {
    const row = this.#needs.ledger.find(operation)
    if (row === undefined || (row.state !== 'unknown' && row.state !== 'held')) return row
    if (this.#running.has(operation)) return row
    this.#running.set(operation, row.tool.slice(0, row.tool.indexOf('/')))
    try {
      await this.#lookOnce(row)
    } finally {
      this.#running.delete(operation)
    }
    return this.#needs.ledger.find(operation)
  }

  #tick(): void {
    if (this.#needs.now() - this.#swept > SWEEP_MS) {
      this.#swept = this.#needs.now()
      void this.#needs.ledger.abandon(this.#swept - TAKE_UP_WITHIN_MS).catch(() => {})
    }
    if (this.#running.size >= AT_ONCE) return
    for (const row of this.#needs.ledger.due(this.#needs.now(), AT_ONCE)) {
      if (this.#running.size >= AT_ONCE) return
      const server = row.tool.slice(0, row.tool.indexOf('/'))
      const there = [...this.#running.values()].filter((other) => other === server).length
      // A look that fails is not a no; the operation stays on the list.
      if (!this.#running.has(row.id) && there < PER_SERVER) void this.look(row.id).catch(() => {})
    }
  }

  async #lookOnce(row: OperationRow): Promise<void> {
    const { ledger, profileOf, now } = this.#needs
    const profile = profileOf(row.tool)
    const adapters = adaptersOf(profile)
    if (adapters.length === 0) return ledger.schedule(row.id, undefined)
    const look = this.#looks.get(row.id) ?? { tries: 0, noes: 0, lastNo: 0, never: false }
    this.#looks.set(row.id, look)
    look.tries++
    const onBehalf = onBehalfOf(row, ledger)
    for (const adapter of adapters) {
      const finding = await lookBy(adapter, row, onBehalf, this.#needs, this.#stop.signal)
      const evidence = { by: adapter.by, tool: adapter.tool, try: look.tries, found: finding.kind }
      if (finding.kind === 'effect') return this.#end(row, 'reconciled_effect', adapter.by, evidence, onBehalf)
      if (finding.kind === 'never') look.never = true
      if (finding.kind === 'no' && this.#isFinal(adapter, row, look, profile.upstreamKey?.lifetimeMs))
        return this.#end(
          row,
          'reconciled_none',
          adapter.by,
          { ...evidence, noes: look.noes, cancelled: look.never },
          onBehalf,
        )
    }
    if (row.state !== 'unknown') return
    if (now() - row.createdAt > GIVE_UP_AFTER_MS) {
      this.#looks.delete(row.id)
      return ledger.hold(row.id, 'looked for a day, and found no evidence either way')
    }
    const settleMs = Math.max(...adapters.map((it) => it.settleMs))
    const pause = Math.max(PAUSES_MS[Math.min(look.tries - 1, PAUSES_MS.length - 1)]!, look.tries <= 3 ? settleMs : 0)
    // Many that became unknown together are not looked for together.
    await ledger.schedule(row.id, now() + Math.round(pause * (1 + Math.random() / 5)))
  }

  /**
   * A no only counts when the call cannot still take effect: it was taken back, or the upstream drops repeats of the key
   * that was asked for, or it can no longer be on its way and the no was said twice with time between.
   */
  #isFinal(adapter: Adapter, row: OperationRow, look: Look, keyLifetimeMs = DAY_MS): boolean {
    if (adapter.source === 'eventual') return false
    const now = this.#needs.now()
    if (look.never) return true
    const byKey = JSON.stringify(adapter.arguments).includes('"$operation":"upstreamKey"')
    if (adapter.by === 'status' && byKey && row.effect === 'keyed' && now - row.createdAt < keyLifetimeMs) return true
    if (look.noes === 0 || now - look.lastNo >= adapter.settleMs) {
      look.noes++
      look.lastNo = now
    }
    return look.noes >= 2 && now > (row.dispatchedAt ?? row.createdAt) + adapter.maxExecutionMs
  }

  async #end(
    row: OperationRow,
    to: Reconciled['to'],
    by: Adapter['by'],
    evidence: JsonObject,
    onBehalf: OnBehalf,
  ): Promise<void> {
    this.#looks.delete(row.id)
    await this.#needs.ledger.reconcile(row.id, { to, method: by, by: 'countersign', evidence })
    if (to === 'reconciled_effect') await this.#needs.found?.(row, onBehalf, this.#stop.signal)
    await this.#needs.ledger.finishCompensation(row.id)
  }
}

const DAY_MS = 24 * 3_600_000
