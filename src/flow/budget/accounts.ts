import { refuse, type Refusal } from '../../words/verdict.ts'
import type { Consented } from '../consent/consented.ts'
import { globMatches } from '../consent/rules.ts'
import type { Budgets, Hold, Spent } from './funded.ts'
import { Loops } from './loops.ts'

/** One limit over one window. What is not given is not limited. */
export interface Budget {
  readonly name: string
  /** Who shares it: each tenant, principal, conversation of a principal, tool, pair, or all. */
  readonly per: 'all' | 'tenant' | 'principal' | 'conversation' | 'tool' | 'principal+tool'
  readonly match: {
    readonly tool?: string
    readonly effect?: readonly string[]
    readonly principal?: string
    readonly tenant?: string
  }
  /** Milliseconds; windows start at multiples of it since 1970. */
  readonly windowMs: number
  readonly calls?: number
  readonly wallMs?: number
  readonly resultBytes?: number
  /** So often the very same call within the window, as long as it brings the same result: a loop without progress. */
  readonly sameCall?: number
  /** At the same time, whatever the window. */
  readonly concurrency?: number
}

/** Whose a call is, as far as budgets go. */
interface Holder {
  readonly tenant: string
  readonly principal: string
  readonly conversation: string
  readonly tool: string
  readonly effect: string
}

interface Account {
  window: number
  calls: number
  wallMs: number
  resultBytes: number
  running: number
}

/** What was spent before this process began: the ledger knows. */
export interface Spending {
  spentSince(since: number): readonly {
    readonly tenant: string
    readonly principal: string
    readonly conversation: string
    readonly tool: string
    readonly effect: string
    readonly calls: number
    readonly wallMs: number
    readonly resultBytes: number
  }[]
}

export interface AccountView {
  readonly budget: string
  readonly holder: string
  readonly windowEndsAt: number
  readonly used: { readonly calls: number; readonly wallMs: number; readonly resultBytes: number }
  readonly running: number
  readonly limits: Omit<Budget, 'name' | 'per' | 'match'>
}

const ACCOUNT_LIMIT = 10_000

/** A budget that a call counts in, and the account of it. */
export interface Applying {
  readonly budget: Budget
  readonly key: string
}

/** Books of all budgets. A hold counts as one call at once; time and bytes are booked when it is settled. */
export class Accounts implements Budgets {
  #budgets: readonly Budget[] = []
  readonly #spending: Spending
  readonly #accounts = new Map<string, Account>()
  // Which budgets apply depends only on principal, tool and effect.
  readonly #applying = new Map<string, readonly Applying[]>()
  readonly #loops = new Loops()
  #next = 1

  constructor(budgets: readonly Budget[], spending: Spending, now: number) {
    this.#spending = spending
    this.replace(budgets, now)
  }

  /** From the next hold on, these. What was spent of a budget that stays is kept; of a new one, the ledger knows. */
  replace(budgets: readonly Budget[], now: number): void {
    const known = new Map(this.#budgets.map((it) => [it.name, shapeOf(it)]))
    this.#budgets = budgets
    this.#applying.clear()
    const stays = new Set(budgets.filter((it) => known.get(it.name) === shapeOf(it)).map((it) => it.name))
    for (const key of this.#accounts.keys()) if (!stays.has(key.slice(0, key.indexOf('\n')))) this.#accounts.delete(key)
    for (const budget of budgets) {
      if (stays.has(budget.name)) continue
      const window = Math.floor(now / budget.windowMs)
      for (const spent of this.#spending.spentSince(window * budget.windowMs)) {
        if (!applies(budget, spent)) continue
        const account = this.#account(keyOf(budget, spent), window)
        account.calls += spent.calls
        account.wallMs += spent.wallMs
        account.resultBytes += spent.resultBytes
      }
    }
  }

  hold(consented: Consented, now: number): Hold | Refusal {
    const { principal, tool, proposal } = consented
    const holder = {
      tenant: principal.tenant,
      principal: principal.id,
      conversation: proposal.origin.conversation ?? proposal.origin.session ?? '',
      tool: tool.key,
      effect: tool.profile.effect,
    }
    const applying = this.#applyingTo(holder)
    const looping = this.#loops.judge(
      applying,
      `${holder.principal}\n${holder.conversation}\n${tool.key}\n${proposal.digest}`,
      now,
    )
    if ('code' in looping) return looping
    const touched: Account[] = []
    let wallMs = Infinity
    let resultBytes = Infinity
    for (const { budget, key } of applying) {
      const account = this.#account(key, Math.floor(now / budget.windowMs))
      const refused = spent(budget, account, now)
      if (refused !== undefined) return refused
      wallMs = Math.min(wallMs, Math.floor((budget.wallMs ?? Infinity) - account.wallMs))
      resultBytes = Math.min(resultBytes, (budget.resultBytes ?? Infinity) - account.resultBytes)
      touched.push(account)
    }
    for (const account of touched) {
      account.calls++
      account.running++
    }
    return holdOf(this.#next++, touched, wallMs, resultBytes, looping.settled)
  }

  /** The oldest that nothing runs on: conversations come and go, and each has an account of its own. */
  #forgetIdle(): void {
    for (const [key, { running }] of this.#accounts) {
      if (this.#accounts.size < ACCOUNT_LIMIT / 2) return
      if (running === 0 && this.#perOf(key) === 'conversation') this.#accounts.delete(key)
    }
  }

  #perOf(key: string): Budget['per'] | undefined {
    const name = key.slice(0, key.indexOf('\n'))
    return this.#budgets.find((budget) => budget.name === name)?.per
  }

  view(now: number): readonly AccountView[] {
    const views: AccountView[] = []
    for (const [key, account] of this.#accounts) {
      const [name, ...holder] = key.split('\n')
      const budget = this.#budgets.find((candidate) => candidate.name === name)
      if (budget === undefined) continue
      const { name: _name, per: _per, match: _match, ...limits } = budget
      const current = account.window === Math.floor(now / budget.windowMs)
      views.push({
        budget: budget.name,
        holder: holder.join(' '),
        windowEndsAt: (Math.floor(now / budget.windowMs) + 1) * budget.windowMs,
        used: current
          ? { calls: account.calls, wallMs: Math.round(account.wallMs), resultBytes: account.resultBytes }
          : { calls: 0, wallMs: 0, resultBytes: 0 },
        running: account.running,
        limits,
      })
    }
    return views
  }

  #applyingTo(holder: Holder): readonly Applying[] {
    const key = `${holder.tenant}\n${holder.principal}\n${holder.conversation}\n${holder.tool}`
    let found = this.#applying.get(key)
    if (found === undefined) {
      found = this.#budgets
        .filter((budget) => applies(budget, holder))
        .map((budget) => ({ budget, key: keyOf(budget, holder) }))
      if (this.#applying.size >= ACCOUNT_LIMIT) this.#applying.clear()
      this.#applying.set(key, found)
    }
    return found
  }

  #account(key: string, window: number): Account {
    let account = this.#accounts.get(key)
    if (account === undefined) {
      if (this.#accounts.size >= ACCOUNT_LIMIT) this.#forgetIdle()
      account = { window, calls: 0, wallMs: 0, resultBytes: 0, running: 0 }
      this.#accounts.set(key, account)
    }
    if (account.window !== window) {
      account.window = window
      account.calls = 0
      account.wallMs = 0
      account.resultBytes = 0
    }
    return account
  }
}

function applies({ match }: Budget, { tenant, principal, tool, effect }: Holder): boolean {
  return (
    (match.tool === undefined || globMatches(match.tool, tool)) &&
    (match.effect === undefined || match.effect.includes(effect)) &&
    (match.tenant === undefined || globMatches(match.tenant, tenant)) &&
    (match.principal === undefined || globMatches(match.principal, principal))
  )
}

function keyOf({ name, per }: Budget, { tenant, principal, conversation, tool }: Holder): string {
  switch (per) {
    case 'all':
      return `${name}\n`
    case 'tenant':
      return `${name}\n${tenant}`
    case 'conversation':
      return `${name}\n${principal}\n${conversation}`
    case 'principal':
      return `${name}\n${principal}`
    case 'tool':
      return `${name}\n${tool}`
    case 'principal+tool':
      return `${name}\n${principal}\n${tool}`
    default:
      return per satisfies never
  }
}

function spent(budget: Budget, account: Account, now: number): Refusal | undefined {
  if (budget.concurrency !== undefined && account.running >= budget.concurrency)
    return refuse('TOO_MANY_AT_ONCE', { budget: budget.name, running: account.running, limit: budget.concurrency })
  const over =
    budget.calls !== undefined && account.calls >= budget.calls
      ? { what: 'calls', used: account.calls, limit: budget.calls }
      : budget.wallMs !== undefined && account.wallMs >= budget.wallMs
        ? { what: 'wall clock, ms', used: Math.round(account.wallMs), limit: budget.wallMs }
        : budget.resultBytes !== undefined && account.resultBytes >= budget.resultBytes
          ? { what: 'result bytes', used: account.resultBytes, limit: budget.resultBytes }
          : undefined
  if (over === undefined) return undefined
  const again = (Math.floor(now / budget.windowMs) + 1) * budget.windowMs
  return refuse('BUDGET_SPENT', { budget: budget.name, ...over, again: new Date(again).toISOString() })
}

function holdOf(
  id: number,
  accounts: readonly Account[],
  wallMs: number,
  resultBytes: number,
  settled: (result: Uint8Array | undefined) => void,
): Hold {
  let open = true
  const end = (): void => {
    if (!open) throw new Error(`hold ${id} was settled before`)
    open = false
    for (const account of accounts) account.running--
  }
  return {
    id,
    wallMs,
    resultBytes,
    settle: (used: Spent) => {
      end()
      settled(used.result)
      for (const account of accounts) {
        account.wallMs += used.wallMs
        account.resultBytes += used.resultBytes
      }
    },
    release: () => {
      end()
      for (const account of accounts) account.calls--
    },
  }
}

/** Whose accounts they are: with another shape the old books say nothing. */
function shapeOf({ per, match, windowMs }: Budget): string {
  return JSON.stringify([per, match.tool, match.effect, match.principal, match.tenant, windowMs])
}
