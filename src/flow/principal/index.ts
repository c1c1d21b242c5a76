import { pass, refuse, type Verdict } from '../../words/verdict.ts'
import type { Gate } from '../gate.ts'
import type { Identified, Identities, Presented } from './principal.ts'

/** Gate 1: who asks, proved. There is no principal that stands for "nobody". */
export const principal: Gate<Presented, Identified, { readonly identities: Identities }> = {
  name: 'principal',
  judge: ({ proposal, credential }, { identities }): Verdict<Identified> => {
    const found = identities.verify(credential, proposal.receivedAt)
    if ('code' in found) return found
    if (found.expiresAt !== undefined && found.expiresAt <= proposal.receivedAt)
      return refuse('IDENTITY_EXPIRED', { principal: found.id })
    return pass(
      { proposal, principal: found },
      {
        principal: found.id,
        tenant: found.tenant,
        kind: found.kind,
        groups: found.groups,
        proof: found.proof,
        door: proposal.origin.door,
      },
    )
  },
}

export type { Credential, Identified, Identities, Presented, Principal } from './principal.ts'
