import type { Approval } from '../../flow/consent/consented.ts'
import { type Json, type JsonObject, isJsonObject, member } from '../../words/json.ts'

/** What came back from a person through a client. */
export type Reply = 'accept' | 'decline' | 'cancel'

// One field without a default: a client that accepts forms by itself, unread, sends nothing that counts as a yes.
const DECISION = Object.freeze({
  type: 'object',
  properties: Object.freeze({
    decision: Object.freeze({
      type: 'string',
      title: 'Decision',
      description: 'approve: the call runs once, exactly as shown. deny: it does not run.',
      enum: Object.freeze(['approve', 'deny']),
    }),
  }),
  required: Object.freeze(['decision']),
}) satisfies JsonObject

/** Parameters of `elicitation/create` for a question. `mode` is left out: form is the default, and older revisions have no such member. */
export function formOf(approval: Approval): JsonObject {
  return { message: approval.question.text, requestedSchema: DECISION }
}

/**
 * Reads the result of an elicitation. Undefined where it does not say plainly what the person decided: then nothing is
 * recorded, and nothing is permitted.
 */
export function replyIn(result: Json | undefined): Reply | undefined {
  if (!isJsonObject(result)) return undefined
  const action = member(result, 'action')
  if (action === 'decline' || action === 'cancel') return action
  const content = member(result, 'content')
  if (action !== 'accept' || !isJsonObject(content)) return undefined
  const decision = member(content, 'decision')
  if (decision === 'approve') return 'accept'
  return decision === 'deny' ? 'decline' : undefined
}

/** Whether client capabilities offer forms. An empty object means form (revision 2025-11-25, elicitation capability). */
export function offersForms(capabilities: JsonObject): boolean {
  const elicitation = member(capabilities, 'elicitation')
  if (!isJsonObject(elicitation)) return false
  return member(elicitation, 'form') !== undefined || member(elicitation, 'url') === undefined
}
