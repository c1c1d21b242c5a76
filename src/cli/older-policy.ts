import type { PolicyReport, Status } from '../api/contract.ts'

/** Policies are read once, at the start: does the gateway still go by others than those that lie in the folder now? */
export function runsOlderPolicy({ policy }: Pick<Status, 'policy'>, report: PolicyReport): boolean {
  // A folder that cannot be used has no version; a gateway without problems cannot have started with it.
  return report.ok ? report.version !== policy.version : policy.problems.length === 0
}

export const olderPolicy = {
  says: 'the gateway runs an older policy',
  fix: '`countersign stop`, then start it again',
} as const
