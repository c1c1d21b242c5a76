import type { Refusal } from '../words/verdict.ts'
import type { Answer } from './answer.ts'
import type { Step } from './line.ts'
import type { FlowNeeds } from './needs.ts'
import type { Proposal } from './proposal/proposal.ts'
import { LedgerFault } from './side-effect/ledger.ts'

/** Puts a no on record, with what every gate before it said, and makes it the answer. */
export async function turnAway(
  refusal: Refusal,
  steps: readonly Step[],
  proposal: Proposal | undefined,
  { ledger }: Pick<FlowNeeds, 'ledger'>,
): Promise<Answer> {
  const { code, facts } = refusal
  const approval = typeof facts['approval'] === 'string' ? { approval: facts['approval'] } : {}
  const operation = typeof facts['operation'] === 'string' ? { operation: facts['operation'] } : {}
  try {
    await ledger.refused({
      proposal: proposal?.id ?? '',
      ...whoOf(steps),
      ...(proposal === undefined ? {} : { trace: proposal.traceId }),
      steps: steps.some(({ code: said }) => said === code)
        ? steps
        : [...steps, { step: 'consent', verdict: 'refuse', code, facts, micros: 0 }],
    })
  } catch (fault) {
    // A no needs no record to be safe; that it could not be kept shows in `status` and `doctor`.
    if (!(fault instanceof LedgerFault)) throw fault
  }
  return { kind: 'refused', code, facts, steps, ...approval, ...operation }
}

function whoOf(steps: readonly Step[]): { principal?: string; tenant?: string; tool?: string } {
  const fact = (step: Step['step'], name: string): string | undefined => {
    const value = steps.find((candidate) => candidate.step === step)?.facts[name]
    return typeof value === 'string' ? value : undefined
  }
  const who = {
    principal: fact('principal', 'principal'),
    tenant: fact('principal', 'tenant'),
    tool: fact('tool', 'tool'),
  }
  return Object.fromEntries(Object.entries(who).filter(([, value]) => value !== undefined))
}
