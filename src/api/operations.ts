import { z } from 'zod'
import { errorKinds } from '../flow/side-effect/error-kind.ts'
import { states } from '../flow/side-effect/operation.ts'
import { acceptance } from './calls.ts'
import { instant, json, stepSchema } from './values.ts'

/** One intended effect and what is known of it. */
export const operationSchema = z.strictObject({
  id: z.string(),
  tenant: z.string(),
  principal: z.string(),
  tool: z.string(),
  effect: z.string(),
  state: z.enum(states),
  /** Of an unknown outcome: `answered` when the tool did say something, `silent` when it did not. */
  standing: z.enum(['answered', 'silent']).exactOptional(),
  acceptance,
  attempts: z.number(),
  argumentsDigest: z.string(),
  scopesDigest: z.string(),
  pin: z.string(),
  requestKey: z.string().exactOptional(),
  approval: z.string().exactOptional(),
  repeatOf: z.string().exactOptional(),
  why: z.string().exactOptional(),
  errorKind: z.enum(errorKinds).exactOptional(),
  receiptRef: z.string().exactOptional(),
  reverses: z.string().exactOptional(),
  compensatedBy: z.string().exactOptional(),
  upstreamKey: z.string(),
  resultBytes: z.number(),
  createdAt: instant,
  updatedAt: instant,
  dispatchedAt: instant.exactOptional(),
  nextDueAt: instant.exactOptional(),
})
export type OperationView = z.infer<typeof operationSchema>

export const happeningSchema = z.strictObject({
  seq: z.number(),
  kind: z.string(),
  at: instant,
  path: z.array(z.enum(states)).readonly().exactOptional(),
  steps: z.array(stepSchema).readonly().exactOptional(),
  facts: z.record(z.string(), json).exactOptional(),
})

const attemptSchema = z.strictObject({
  n: z.number(),
  leg: z.number(),
  upstreamKey: z.string(),
  startedAt: instant,
  deadlineAt: instant,
  sent: z.enum(['no', 'maybe', 'yes']),
  taskRef: z.string().exactOptional(),
  endedAt: instant.exactOptional(),
  outcome: z.string().exactOptional(),
  errorKind: z.enum(errorKinds).exactOptional(),
})

/** What has to be known of every call, in one row. */
export const callRecordSchema = z.strictObject({
  actor: z.string(),
  tenant: z.string(),
  tool: z.string(),
  argumentsDigest: z.string(),
  resourceScope: z.array(json).readonly(),
  /** Who or which rule said that it may run. */
  approvalProof: z.record(z.string(), json),
  idempotencyKey: z.strictObject({ caller: z.string().exactOptional(), upstream: z.string() }),
  /** Digest of what came back, or what went wrong instead. */
  result: z.strictObject({ bytes: z.number(), digest: z.string() }).exactOptional(),
  error: z.strictObject({ kind: z.enum(errorKinds).exactOptional(), why: z.string() }).exactOptional(),
  externalReceipt: z.string().nullable(),
  verdicts: z.strictObject({
    /** Did a policy and, where one was needed, a person allow it? */
    allowed: z.boolean(),
    /** What is known of the effect. */
    happened: z.enum(states),
    /** What the world shows. */
    done: acceptance,
  }),
})
export type CallRecord = z.infer<typeof callRecordSchema>

export const operationDetailSchema = operationSchema.extend({
  /** JSON text as it was sent and as it came back; absent where it is no longer kept, cut where `resultCut` says so. */
  arguments: z.string().exactOptional(),
  result: z.string().exactOptional(),
  resultCut: z.boolean().exactOptional(),
  record: callRecordSchema,
  attemptRows: z.array(attemptSchema).readonly(),
  /** What the evidence holds of it, oldest first. */
  happenings: z.array(happeningSchema).readonly(),
})
export type OperationDetail = z.infer<typeof operationDetailSchema>

export const operationFilterSchema = z.strictObject({
  /** `open`: everything that is not settled, unknown and held included. */
  state: z.enum([...states, 'open']).exactOptional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
})
export type OperationFilter = z.infer<typeof operationFilterSchema>

/** A person's word on an unknown outcome. `hold` keeps it open, so that nothing repeats it meanwhile. */
export const decideOperationSchema = z.strictObject({
  decision: z.enum(['effect', 'none', 'hold']),
  why: z.string().min(1).max(1000),
})
export type DecideOperation = z.infer<typeof decideOperationSchema>
