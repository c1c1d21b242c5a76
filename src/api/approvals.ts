import { z } from 'zod'
import { instant } from './values.ts'

export const channelSchema = z.enum(['terminal', 'cli', 'console', 'elicitation'])
export const approvalStates = ['waiting', 'granted', 'denied', 'used', 'expired'] as const

/** A question to a person, and its answer. `text` and `arguments` are made of what was judged, and are what will be sent. */
export const approvalSchema = z.strictObject({
  id: z.string(),
  state: z.enum(approvalStates),
  tool: z.string(),
  principal: z.string(),
  tenant: z.string(),
  risk: z.string(),
  rule: z.string(),
  /** By which channels an answer counts. */
  channels: z.array(channelSchema).readonly(),
  selfApproval: z.boolean(),
  approvers: z.array(z.string()).readonly().exactOptional(),
  text: z.string(),
  /** Canonical JSON text. */
  arguments: z.string(),
  callId: z.string().exactOptional(),
  repeatOf: z.string().exactOptional(),
  askedAt: instant,
  expiresAt: instant,
  by: z.string().exactOptional(),
  channel: channelSchema.exactOptional(),
  decidedAt: instant.exactOptional(),
  why: z.string().exactOptional(),
  operation: z.string().exactOptional(),
})
export type ApprovalView = z.infer<typeof approvalSchema>

export const approvalFilterSchema = z.strictObject({
  state: z.enum(approvalStates).exactOptional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
})
export type ApprovalFilter = z.infer<typeof approvalFilterSchema>

/** The channel says how the person was asked: `terminal` at a prompt that showed the question, `cli` by a command. */
export const decideApprovalSchema = z.strictObject({
  /** revoked: the question, or a yes that nothing has used yet, stands no more; the same call is asked anew. */
  decision: z.enum(['granted', 'denied', 'revoked']),
  channel: z.enum(['terminal', 'cli']),
  why: z.string().max(1000).default(''),
})
export type DecideApproval = z.infer<typeof decideApprovalSchema>

export const watchApprovalsSchema = z.strictObject({
  /** `terminal`: somebody sits there and can be asked, which rules with that channel need to know. */
  channel: z.enum(['terminal', 'cli']).default('cli'),
})
