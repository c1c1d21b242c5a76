/** How an attempt ended, by what can be concluded from it. On record with each attempt. */
export const errorKinds = ['E0', 'E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'E7', 'E8'] as const
export type ErrorKind = (typeof errorKinds)[number]

export const errorKindMeanings: Readonly<Record<ErrorKind, string>> = Object.freeze({
  E0: 'refused here, before the intent: no effect',
  E1: 'proved that nothing was sent: no effect',
  E2: 'refused by a server that is trusted to say so before it acts: no effect',
  E3: 'an answer that the profile knows to mean failure: no effect',
  E4: 'a complete success',
  E5: 'a complete answer that says nothing about the effect',
  E6: 'no answer, or not the whole of one',
  E7: 'an answer that could not be read here',
  E8: 'the gateway ended while it was under way',
})

const MOST_ATTEMPTS = 3

/**
 * Whether the gateway itself may send once more, after so many attempts. Only on proof that nothing left, for every class:
 * a call that may have run is looked after and never sent again from here, also where its class says that twice is once.
 */
export function mayTryAgain(kind: ErrorKind, attempts: number): boolean {
  return kind === 'E1' && attempts < MOST_ATTEMPTS
}
