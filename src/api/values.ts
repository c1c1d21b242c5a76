import { z } from 'zod'
import { order } from '../flow/order.ts'
import type { Json, JsonObject } from '../words/json.ts'
import { type RefusalCode, refusals } from '../words/refusals.ts'
import type { Facts } from '../words/verdict.ts'

/** Any JSON value, not looked into: gates have judged it already. */
export const json = z.json() as unknown as z.ZodType<Json, Json>
export const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject, JsonObject>
export const facts = jsonObject as z.ZodType<Facts, Facts>

/** Milliseconds since 1970. */
export const instant = z.number()

export const refusalCode = z.enum(Object.keys(refusals) as [RefusalCode, ...RefusalCode[]])

/** What one gate said; see `order` for the steps. */
export const stepSchema = z.strictObject({
  step: z.enum(order),
  verdict: z.enum(['pass', 'ask', 'refuse']),
  code: refusalCode.exactOptional(),
  facts,
  micros: z.number(),
})

/** A no: the code, its words from the one table, and what the gate stated. */
export const refusalSchema = z.strictObject({
  kind: z.literal('refused'),
  code: refusalCode,
  say: z.string(),
  next: z.string(),
  facts,
})
export type RefusalView = z.infer<typeof refusalSchema>

/** Something is wrong with the request or broken; nothing was decided. */
export const faultSchema = z.strictObject({
  kind: z.literal('fault'),
  code: z.enum(['BAD_REQUEST', 'NOT_FOUND', 'TOO_LARGE', 'STOPPING', 'INTERNAL']),
  message: z.string(),
  hint: z.string().exactOptional(),
})
export type FaultView = z.infer<typeof faultSchema>
