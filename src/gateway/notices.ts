import type { Config, NoticeWay } from '../config/config.ts'
import type { AccountView } from '../flow/budget/accounts.ts'
import type { Core } from './assemble.ts'
import { type Deliver, deliverBy } from './notice-ways.ts'

/** Something waits for a person. It names what, and holds no argument, result or secret. */
export interface Notice {
  readonly kind: 'approval' | 'drift' | 'unknown' | 'budget'
  /** Milliseconds since 1970. */
  readonly at: number
  readonly id: string
  readonly title: string
  readonly text: string
}

const LOOK_EVERY_MS = 2_000
const DELIVER_WITHIN_MS = 10_000
const MOST_WAITING = 64
const MOST_TOLD = 4_096
const NEAR = 0.9

/** One way to tell, with its own queue: a way that hangs holds up no other, and no call. */
class Outlet {
  readonly #way: NoticeWay
  readonly #deliver: Deliver
  readonly #onFault: (fault: unknown, where: string) => void
  readonly #queue: Notice[] = []
  readonly #closing = new AbortController()
  #running = false

  constructor(way: NoticeWay, folder: string, onFault: (fault: unknown, where: string) => void) {
    this.#way = way
    this.#deliver = deliverBy(way, folder)
    this.#onFault = onFault
  }

  tell(notice: Notice): void {
    if (!this.#way.on.includes(notice.kind)) return
    // The newest is worth most: whoever reads it late finds the rest with `countersign status`.
    if (this.#queue.length >= MOST_WAITING) this.#queue.shift()
    this.#queue.push(notice)
    if (!this.#running) void this.#drain()
  }

  async #drain(): Promise<void> {
    this.#running = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(DELIVER_WITHIN_MS)])
      await this.#deliver(next, signal).catch((fault: unknown) => this.#onFault(fault, 'notify'))
      if (this.#closing.signal.aborted) break
    }
    this.#running = false
  }

  close(): void {
    this.#queue.length = 0
    this.#closing.abort()
  }
}

/**
 * Tells people outside of the gateway of what waits for them: each thing once. Looks at what is on record every two
 * seconds, beside the calls and never in their way.
 */
export class Notices {
  readonly #core: Core
  readonly #told = new Set<string>()
  #outlets: readonly Outlet[] = []
  #ways: readonly NoticeWay[] = []
  #timer: NodeJS.Timeout | undefined
  #detach: () => void = () => {}

  constructor(core: Core) {
    this.#core = core
  }

  start(): void {
    const { desk, open } = this.#core
    this.#detach = desk.attach('cli', () => this.look())
    // What is unknown or changed since before is not news.
    for (const notice of this.#standing()) if (notice.kind !== 'approval') this.#told.add(keyOf(notice))
    if (open.judgement.verdict === 'valid') this.look()
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  look(): void {
    try {
      const { notify } = this.#core.inForce.config
      if (notify !== this.#ways) this.#open(notify)
      if (notify.length === 0) return
      for (const notice of this.#standing()) this.#tell(notice)
    } catch (fault) {
      this.#core.onFault(fault, 'notify')
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#detach()
    for (const outlet of this.#outlets) outlet.close()
  }

  #open(ways: Config['notify']): void {
    const { inForce, onFault } = this.#core
    for (const outlet of this.#outlets) outlet.close()
    this.#ways = ways
    this.#outlets = ways.map((way) => new Outlet(way, inForce.config.folder, onFault))
  }

  #tell(notice: Notice): void {
    const key = keyOf(notice)
    if (this.#told.has(key)) return
    if (this.#told.size >= MOST_TOLD) this.#told.delete(this.#told.values().next().value!)
    this.#told.add(key)
    for (const outlet of this.#outlets) outlet.tell(notice)
  }

  *#standing(): Generator<Notice> {
    const { open, catalogue, budgets } = this.#core
    const at = Date.now()
    for (const { id, question } of open.ledger.approvals({ states: ['waiting'], limit: MOST_WAITING })) {
      const { tool, principal } = question.binding
      yield {
        kind: 'approval',
        at,
        id,
        title: 'A call waits for your answer',
        text: `${principal} asks to run ${tool}: countersign approval show ${id}`,
      }
    }
    for (const { id, tool } of open.ledger.list({ states: ['unknown'], limit: MOST_WAITING }))
      yield {
        kind: 'unknown',
        at,
        id,
        title: 'Nobody knows what became of a call',
        text: `${tool}: countersign operation show ${id}`,
      }
    for (const { key, state, livePin } of catalogue.entries())
      if (state === 'changed')
        yield {
          kind: 'drift',
          at,
          id: `${key} ${livePin ?? ''}`,
          title: 'A tool is not what was approved',
          text: `${key}: countersign tool diff ${key}`,
        }
    for (const view of budgets.view(at)) {
      const used = share(view)
      if (used >= NEAR)
        yield {
          kind: 'budget',
          at,
          id: `${view.budget} ${view.holder} ${view.windowEndsAt}`,
          title: 'A budget is near its end',
          text: `${view.budget} of ${view.holder}: ${Math.floor(used * 100)} % used`,
        }
    }
  }
}

function keyOf({ kind, id }: Notice): string {
  return `${kind} ${id}`
}

/** The part of its narrowest limit that is used. */
function share({ used, limits }: AccountView): number {
  const parts = (['calls', 'wallMs', 'resultBytes'] as const).map((name) => {
    const limit = limits[name]
    return limit === undefined || limit === 0 ? 0 : used[name] / limit
  })
  return Math.max(...parts)
}
