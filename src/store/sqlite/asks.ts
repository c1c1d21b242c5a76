import type { AuthorisedAction } from '../../flow/action/index.ts'
import type { AskRecord } from '../../flow/asking.ts'
import type { Happening } from '../../flow/evidence/index.ts'
import type { Chain } from './chain.ts'
import type { Database } from './database.ts'
import { commitTo } from './payloads.ts'

/** What a server asked while an attempt was under way, and what it was answered; both as commitments, and neither is kept. */
export function askHappening(
  db: Database,
  chain: Chain,
  { action, operation, request, answer, facts }: AskRecord,
): Happening {
  const subject = { tenant: action.principal.tenant, principal: action.principal.id }
  // An operation may be asked more than once: the number of the record tells the salts apart.
  const commit = (what: string, value: string): string =>
    commitTo(db, subject, operation, `asked ${chain.size} ${what}`, value)
  // Not among the commitments of the event: those are to what the operation itself was sent and gave back.
  const told = { ...facts, request: commit('request', request), reply: commit('reply', answer) }
  return { kind: 'op.asked', at: Date.now(), operation, ...whose(action), facts: told }
}

/** The attempt goes on with a further leg: what its server asked has been answered. */
export function legHappening(action: AuthorisedAction, operation: string, leg: number): Happening {
  return { kind: 'op.leg', at: Date.now(), operation, ...whose(action), facts: { leg } }
}

function whose({ principal, tool, proposal }: AuthorisedAction): Partial<Happening> {
  return { tenant: principal.tenant, principal: principal.id, tool: tool.key, trace: proposal.traceId }
}
