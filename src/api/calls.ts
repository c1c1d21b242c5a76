import { z } from 'zod'
import { states } from '../flow/side-effect/operation.ts'
import { facts, json, jsonObject, refusalCode, stepSchema } from './values.ts'

/** A call as a person or a program of theirs makes it. `arguments` is JSON text, so that it is parsed strictly and once. */
export const callRequestSchema = z.strictObject({
  target: z.union([
    z.strictObject({ server: z.string().min(1).max(256), name: z.string().min(1).max(256) }),
    z.strictObject({ exported: z.string().min(1).max(256) }),
  ]),
  arguments: z.string(),
  door: z.enum(['cli', 'host', 'code']),
  conversation: z.string().max(256).exactOptional(),
  callId: z.string().max(256).exactOptional(),
  /** The caller's idempotency key: 16–255 characters of `A–Z a–z 0–9 . _ : -`. */
  requestKey: z.string().max(255).exactOptional(),
})
export type CallRequestBody = z.infer<typeof callRequestSchema>

const state = z.enum(states)
export const acceptance = z.enum(['not_required', 'pending', 'met', 'not_met', 'unverifiable'])
const steps = z.array(stepSchema).readonly()

export const remarksSchema = z.strictObject({
  bytes: z.number(),
  contentTypes: z.array(z.string()).readonly(),
  schema: z.enum(['fits', 'none']),
  masked: z.array(z.strictObject({ rule: z.string(), count: z.number() })).readonly(),
  signs: z.array(z.string()).readonly(),
  spilled: z.string().exactOptional(),
})

/** What became of a call: the flow's answer as plain data. The three verdicts are `kind`, `state` and `acceptance`. */
export const callReportSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('answered'),
    operation: z.string(),
    state,
    acceptance,
    isError: z.boolean(),
    remarks: remarksSchema,
    steps,
    /** Last, since its bytes are put into the answer as they came: no digit of a number is lost. */
    result: jsonObject,
  }),
  z.strictObject({
    kind: z.literal('upstream-error'),
    operation: z.string(),
    state,
    error: z.strictObject({ code: z.number(), message: z.string(), data: json.exactOptional() }),
    steps,
  }),
  z.strictObject({
    kind: z.literal('refused'),
    code: refusalCode,
    say: z.string(),
    next: z.string(),
    facts,
    steps,
    operation: z.string().exactOptional(),
    approval: z.string().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('unknown'), operation: z.string(), why: z.string(), steps }),
])
export type CallReport = z.infer<typeof callReportSchema>

/** Every verdict that can be had without sending. */
export const checkReportSchema = z.strictObject({ steps })
export type CheckReport = z.infer<typeof checkReportSchema>

/** A tool as a model is offered it: approved, visible to the local user, under its exported name. */
export const offerSchema = z.strictObject({
  exported: z.string(),
  title: z.string().exactOptional(),
  description: z.string(),
  inputSchema: jsonObject,
  server: z.string(),
})
export const offersSchema = z.strictObject({ offers: z.array(offerSchema).readonly() })
export type Offers = z.infer<typeof offersSchema>
