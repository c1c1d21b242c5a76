import { z } from 'zod'
import { json, jsonObject } from './values.ts'

export const evidenceFilterSchema = z.strictObject({
  operation: z.string().max(64).exactOptional(),
  approval: z.string().max(64).exactOptional(),
  /** Records with this number and later ones; without it, the last ones. */
  from: z.coerce.number().int().min(0).exactOptional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
})
export type EvidenceFilter = z.infer<typeof evidenceFilterSchema>

const name = z.string().min(1).max(512).exactOptional()
const when = z.coerce.number().int().min(0).exactOptional()

/** Which records an export holds; without any member all. */
export const exportFilterSchema = z.strictObject({
  tenant: name,
  principal: name,
  tool: name,
  operation: name,
  kind: name,
  /** Milliseconds since 1970; records of `until` and later are left out. */
  since: when,
  until: when,
  /** `yes`: with what was sent and answered, opened, for whoever may read it. */
  payloads: z.enum(['yes', 'no']).default('no'),
})
export type ExportRequest = z.infer<typeof exportFilterSchema>

export const eraseSchema = z.strictObject({
  tenant: z.string().min(1).max(256),
  principal: z.string().min(1).max(512),
  why: z.string().min(1).max(2000),
})
export type EraseSubject = z.infer<typeof eraseSchema>
export const erasedSchema = z.strictObject({
  /** Names of the data keys that are no more. */
  keys: z.array(z.string()).readonly(),
})

export const rotatedSchema = z.strictObject({
  /** Fingerprint of the key that signs from now on. */
  key: z.string(),
})

/** Records of the chain as they are exported, in order. */
export const evidenceSchema = z.strictObject({ records: z.array(jsonObject).readonly() })
export type EvidenceList = z.infer<typeof evidenceSchema>

export const judgementSchema = z.strictObject({
  verdict: z.enum(['valid', 'tampered', 'incomplete', 'unjudgeable']),
  records: z.number(),
  firstBad: z.number().exactOptional(),
  why: z.array(z.string()).readonly(),
  key: z.string().exactOptional(),
  checkpoint: json.exactOptional(),
  erased: z.number().exactOptional(),
  payloads: z.number().exactOptional(),
})
