import type { CallReport } from '../api/contract.ts'
import type { Judgement } from '../flow/evidence/index.ts'

/** Every way in which a command ends. A script can branch on each; docs/cli.md has one row per entry. */
export const exits = {
  done: 0,
  fault: 1,
  usage: 2,
  refused: 3,
  waiting: 4,
  unknown: 5,
  toolError: 6,
  tampered: 10,
  incomplete: 11,
  unjudgeable: 12,
  interrupted: 130,
} as const

export type Exit = (typeof exits)[keyof typeof exits]

export function exitOfReport(report: CallReport): Exit {
  switch (report.kind) {
    case 'answered':
      return report.isError ? exits.toolError : exits.done
    case 'upstream-error':
      return exits.toolError
    case 'refused':
      return exitOfRefusal(report)
    case 'unknown':
      return exits.unknown
    default:
      return report satisfies never
  }
}

export function exitOfRefusal({ code }: { readonly code: string }): Exit {
  if (code === 'APPROVAL_WAITING') return exits.waiting
  // The same call was sent before, and nobody knows: for a script it is as open as its own would be.
  return code === 'OUTCOME_UNKNOWN' ? exits.unknown : exits.refused
}

export function exitOfJudgement({ verdict }: Pick<Judgement, 'verdict'>): Exit {
  return verdict === 'valid' ? exits.done : exits[verdict]
}
