/**
 * The one list of steps, in the order of the data. Documents, spans, the console's timeline and the test that holds
 * the direction of imports read it.
 */
export const order = [
  'proposal',
  'principal',
  'tool',
  'resource',
  'consent',
  'budget',
  'action',
  'side-effect',
  'receipt',
  'result',
  'outcome',
  'evidence',
] as const

export type StepName = (typeof order)[number]
