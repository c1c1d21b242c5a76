import { newId } from '../../words/id.ts'
import { pass, refuse, type Refusal, type Verdict } from '../../words/verdict.ts'
import type { AuthorisedAction } from '../action/index.ts'
import type { Gate } from '../gate.ts'
import type { Step } from '../line.ts'
import { type Ledger, LedgerFault } from './ledger.ts'
import type { Permitted } from './operation.ts'

export interface SideEffectNeeds {
  readonly ledger: Ledger
  /** The steps so far: they go on record with the intent. */
  readonly steps: readonly Step[]
  /** Asked inside the transaction: have the policy and the pin stayed what they were when they were judged? */
  readonly stillValid: () => boolean
  /** Says no while the server is left alone since it did not answer. */
  readonly admit?: (server: string) => Refusal | undefined
}

/** Gate 6: the key is claimed and the intent is on disk before any byte leaves; a second time is stopped here. */
export const sideEffect: Gate<AuthorisedAction, Permitted, SideEffectNeeds> = {
  name: 'side-effect',
  judge: (action, { ledger, steps, stillValid, admit }): Verdict<Permitted> | Promise<Verdict<Permitted>> => {
    if (ledger.closed !== undefined) return ledger.closed
    // Under a key that is taken nothing new is sent: what is on record can be had meanwhile.
    const tripped = action.consent.kind === 'under-key' ? undefined : admit?.(action.tool.server)
    if (tripped !== undefined) return tripped
    // An approval is used up in the transaction of the intent, so an approved read takes that road too.
    if (action.tool.profile.effect === 'read' && action.consent.kind === 'not-needed') {
      if (!stillValid()) return refuse('AUTHORISATION_STALE', {})
      const operation = newId('op', action.proposal.receivedAt)
      const permit = { action, operation, attempt: 1, upstreamKey: '', lane: 'read' as const }
      return pass({ kind: 'permit', permit }, { operation, effect: 'read' })
    }
    return claim(action, ledger, steps, stillValid)
  },
}

async function claim(
  action: AuthorisedAction,
  ledger: Ledger,
  steps: readonly Step[],
  stillValid: () => boolean,
): Promise<Verdict<Permitted>> {
  try {
    const claimed = await ledger.claim(action, steps, stillValid)
    switch (claimed.kind) {
      case 'refuse':
        return claimed
      case 'settled':
        return pass(claimed, { operation: claimed.row.id, state: claimed.row.state, answeredFrom: 'the ledger' })
      case 'claimed': {
        const { operation, attempt, upstreamKey } = claimed
        const facts = { operation, effect: action.tool.profile.effect, attempt, intent: 'synced' }
        return pass({ kind: 'permit', permit: { action, operation, attempt, upstreamKey, lane: 'effect' } }, facts)
      }
      default:
        return claimed satisfies never
    }
  } catch (fault) {
    if (fault instanceof LedgerFault) return refuse(fault.code, { why: fault.message })
    throw fault
  }
}

export { edges, type OperationState, type Permit, states } from './operation.ts'
