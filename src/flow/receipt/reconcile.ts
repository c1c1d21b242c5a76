import { type JsonObject, isJsonObject } from '../../words/json.ts'
import type { OnBehalf, ReadBacks } from './read-back.ts'
import { holds } from '../tool/condition.ts'
import type { ToolProfile } from '../tool/profile.ts'
import type { Ledger, OperationRow } from '../side-effect/ledger.ts'
import type { Permit } from '../side-effect/operation.ts'
import type { WireOutcome } from './receipt.ts'
import { receiptOf } from './reference.ts'

export interface ReconcileNeeds {
  readonly ledger: Ledger
  readonly readBacks: ReadBacks
  /** The profile that holds now for `server/tool`. */
  readonly profileOf: (tool: string) => ToolProfile
  readonly now: () => number
}

const PAUSES_MS = [1_000, 5_000, 15_000, 60_000, 300_000, 900_000]
const GIVE_UP_AFTER_MS = 24 * 3_600_000
const TICK_MS = 500
const AT_ONCE = 4
const SWEEP_MS = 60_000
/** What had no effect may be proposed again as the same intention for so long; afterwards it is over. */
const TAKE_UP_WITHIN_MS = 24 * 3_600_000

/** What is known of an operation's look-ups so far; lost with the process, which only makes it look again. */
interface Look {
  tries: number
  noes: number
  lastNo: number
}

/**
 * Ends what is unknown: by an answer that comes late, or by looking at the world through the read-back that the profile
 * names. Yes needs evidence that fits this call; no needs in addition that the call cannot still take effect. Whatever is
 * neither stays unknown, and after a day is held for a person.
 */
export class Reconciler {
  readonly #needs: ReconcileNeeds
  readonly #looks = new Map<string, Look>()
  readonly #running = new Set<string>()
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
    if (row === undefined || this.#needs.profileOf(row.tool).reconcile === undefined) return
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
  }

  /** Looks now, whatever the schedule says. Resolves with the row as it is afterwards. */
  async look(operation: string): Promise<OperationRow | undefined> {
    const row = this.#needs.ledger.find(operation)
    if (row === undefined || (row.state !== 'unknown' && row.state !== 'held')) return row
    if (this.#running.has(operation)) return row
    this.#running.add(operation)
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
      // A look that fails is not a no; the operation stays on the list.
      if (!this.#running.has(row.id)) void this.look(row.id).catch(() => {})
    }
  }

  async #lookOnce(row: OperationRow): Promise<void> {
    const { ledger, readBacks, profileOf, now } = this.#needs
    const { reconcile } = profileOf(row.tool)
    if (reconcile === undefined) return ledger.schedule(row.id, undefined)
    const look = this.#looks.get(row.id) ?? { tries: 0, noes: 0, lastNo: 0 }
    this.#looks.set(row.id, look)
    look.tries++
    const onBehalf = onBehalfOf(row, ledger)
    const outcome = await readBacks.read(onBehalf, reconcile, this.#stop.signal)
    const evidence = { tool: reconcile.tool, try: look.tries, answer: outcome.kind }
    if (outcome.kind === 'reply' && outcome.value['isError'] !== true) {
      if (holds(reconcile.expect, outcome.value, onBehalf.arguments)) {
        this.#looks.delete(row.id)
        await ledger.reconcile(row.id, { to: 'reconciled_effect', method: 'read-back', by: 'countersign', evidence })
        return
      }
      if (now() - look.lastNo >= reconcile.settleMs) {
        look.noes++
        look.lastNo = now()
      }
      // No only counts when the call cannot still be on its way, and when it was said twice with time between.
      const over = (row.dispatchedAt ?? row.createdAt) + reconcile.maxExecutionMs
      if (look.noes >= 2 && now() > over) {
        this.#looks.delete(row.id)
        await ledger.reconcile(row.id, {
          to: 'reconciled_none',
          method: 'read-back',
          by: 'countersign',
          evidence: { ...evidence, noes: look.noes },
        })
        return
      }
    }
    if (row.state !== 'unknown') return
    if (now() - row.createdAt > GIVE_UP_AFTER_MS) {
      this.#looks.delete(row.id)
      return ledger.hold(row.id, 'looked for a day, and found no evidence either way')
    }
    const pause = Math.max(
      PAUSES_MS[Math.min(look.tries - 1, PAUSES_MS.length - 1)]!,
      look.tries <= 3 ? reconcile.settleMs : 0,
    )
    await ledger.schedule(row.id, now() + pause)
  }
}

function onBehalfOf(row: OperationRow, ledger: Ledger): OnBehalf {
  const bytes = ledger.payload(row.id, 'arguments')
  const parsed: unknown = bytes === undefined ? {} : JSON.parse(Buffer.from(bytes).toString('utf8'))
  const args: JsonObject = isJsonObject(parsed) ? parsed : {}
  return { operation: row.id, principal: row.principal, arguments: args }
}
