import { pass, type Verdict } from '../../words/verdict.ts'
import type { Consented } from '../consent/consented.ts'
import type { Gate } from '../gate.ts'
import type { Budgets, Funded } from './funded.ts'

/** Gate 5: a hold on calls, time, bytes and concurrency, or the budget that is spent. */
export const budget: Gate<Consented, Funded, { readonly budgets: Budgets; readonly now: () => number }> = {
  name: 'budget',
  judge: (consented, { budgets, now }): Verdict<Funded> => {
    const held = budgets.hold(consented, now())
    if ('code' in held) return held
    return pass(
      { ...consented, hold: held },
      held.wallMs === Infinity ? { hold: held.id } : { hold: held.id, wallMs: held.wallMs },
    )
  },
}

export { type AccountView, Accounts, type Budget, type Spending } from './accounts.ts'
export type { Budgets, Funded, Hold, Spent } from './funded.ts'
