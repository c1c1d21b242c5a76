import { type Verdict, pass } from '../../words/verdict.ts'
import type { Funded } from '../budget/funded.ts'
import type { Gate } from '../gate.ts'

declare const minted: unique symbol
const genuine = new WeakSet<object>()

/** A proposal that all five gates before the call let through. Only `authorise` makes one; nothing else can be sent. */
export type AuthorisedAction = Funded & { readonly [minted]: true }

/** Minted here only. The flow is the one caller; a test holds that. */
export const action: Gate<Funded, AuthorisedAction, unknown> = {
  name: 'action',
  judge: (funded): Verdict<AuthorisedAction> => {
    const authorised = Object.freeze({ ...funded }) as AuthorisedAction
    genuine.add(authorised)
    return pass(authorised)
  },
}

/** Throws a TypeError for an object that only looks authorised. Every adapter that sends asks this first. */
export function assertGenuine(authorised: AuthorisedAction): void {
  if (!genuine.has(authorised)) throw new TypeError('not an authorised action: only the flow mints one')
}
