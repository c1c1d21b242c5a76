/**
 * Named moments of a call. A test kills the process at each of them and looks at what is true afterwards; nothing else
 * uses them.
 */
export const points = [
  'proposed',
  'judged',
  'intent-recorded',
  'sent',
  'answered',
  'outcome-recorded',
  'result-accepted',
  'concluded',
] as const

export type Point = (typeof points)[number]
