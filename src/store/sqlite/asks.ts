import { commitment } from '../../words/digest.ts'
import { randomSalt } from '../../words/id.ts'
import type { AuthorisedAction } from '../../flow/action/index.ts'
import type { AskRecord } from '../../flow/asking.ts'
import type { Happening } from '../../flow/evidence/index.ts'

/** What a server asked while an attempt was under way, and what it was answered; both as commitments under the salt. */
export function askHappening({ action, operation, request, answer, facts }: AskRecord): {
  readonly happening: Happening
  readonly salt: Uint8Array
} {
  const salt = randomSalt(16)
  // Not among the commitments of the event: those are to what the operation itself was sent and gave back.
  const told = { ...facts, request: commitment(salt, request), reply: commitment(salt, answer) }
  return { happening: { kind: 'op.asked', at: Date.now(), operation, ...whose(action), facts: told }, salt }
}

/** The attempt goes on with a further leg: what its server asked has been answered. */
export function legHappening(action: AuthorisedAction, operation: string, leg: number): Happening {
  return { kind: 'op.leg', at: Date.now(), operation, ...whose(action), facts: { leg } }
}

function whose({ principal, tool, proposal }: AuthorisedAction): Partial<Happening> {
  return { tenant: principal.tenant, principal: principal.id, tool: tool.key, trace: proposal.traceId }
}
